package proxy

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
)

//go:embed page.html
var pageHTML string

// ServeHTTP shows the journal: as a page, or as JSON with ?format=json.
func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if misled(r) {
		refuse(w, http.StatusForbidden, "this page is at http://127.0.0.1 or http://localhost only, not at "+
			short(r.Host, maxName))
		return
	}
	show := j.showPage
	if r.URL.Query().Get("format") == "json" {
		show = j.showJSON
	}
	var body bytes.Buffer
	if err := show(&body, w.Header()); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
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

// misled reports whether a website may have pointed its own name at this machine
// (DNS rebinding), in which case a browser would let it read the page.
func misled(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	host := (&url.URL{Host: r.Host}).Hostname()
	_, err := netip.ParseAddr(host)
	return ok && local.IP.IsLoopback() && err != nil && host != "localhost"
}
