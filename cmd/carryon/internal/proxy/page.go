package proxy

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"net/http"
)

//go:embed page.html
var pageHTML string

// ServeHTTP shows the journal: as a page, or as JSON with ?format=json.
func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	show := j.showPage
	if r.URL.Query().Get("format") == "json" {
		show = j.showJSON
	}
	var body bytes.Buffer
	if err := show(&body, w.Header()); err != nil {
		refuse(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = body.WriteTo(w) // the browser may be gone
}

func (j *journal) showPage(body *bytes.Buffer, header http.Header) error {
	nonce := rand.Text() // no other script on the page can run
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; base-uri 'none'; "+
		"style-src 'nonce-"+nonce+"'; script-src 'nonce-"+nonce+"'")
	return j.page.Execute(body, struct {
		report
		Nonce string
	}{j.report(), nonce})
}

func (j *journal) showJSON(body *bytes.Buffer, header http.Header) error {
	header.Set("Content-Type", "application/json")
	encoder := json.NewEncoder(body)
	encoder.SetIndent("", "  ")
	return encoder.Encode(j.report())
}
