package proxy

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// The page is a static file without data: its script fetches the JSON and shows it.
//
//go:embed web/page.html
var pageHTML string

//go:embed web/page.css
var pageStyle string

// The script is written in several files, each of which uses those before it.
var (
	//go:embed web/dom.js
	pageDOM string
	//go:embed web/words.js
	pageWords string
	//go:embed web/chart.js
	pageChart string
	//go:embed web/holdout.js
	pageHoldout string
	//go:embed web/download.js
	pageDownload string
	//go:embed web/page.js
	pageScript string
)

// page is the HTML of the page, and its Content-Security-Policy, which allows only
// the page's own style and script.
type page struct {
	html   []byte
	policy string
}

func newPage() *page {
	script := "\"use strict\";\n" + pageDOM + pageWords + pageChart + pageHoldout + pageDownload + pageScript
	html := strings.NewReplacer("/* style */", pageStyle, "/* script */", script).Replace(pageHTML)
	return &page{[]byte(html), "default-src 'none'; connect-src 'self'; img-src data:; style-src " + hashOf(pageStyle) +
		"; script-src " + hashOf(script) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"}
}

// hashOf returns the policy source that allows exactly this text. 'self' would allow
// too much: files of the upstream have the same origin as the page.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ServeHTTP shows the journal: as a page, or as JSON with ?format=json.
func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header, query := w.Header(), r.URL.Query()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if query.Get("format") != "json" {
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", j.page.policy)
		_, _ = w.Write(j.page.html) // the browser may be gone
		return
	}
	after, err := strconv.ParseUint(query.Get("after"), 10, 64)
	if err != nil && query.Has("after") {
		refuse(w, r, http.StatusBadRequest, "after must be the revision of an earlier answer")
		return
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	if !query.Has("after") { // a person asks
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(j.report(after)); err != nil {
		refuse(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	header.Set("Content-Type", "application/json")
	_, _ = body.WriteTo(w) // the browser may be gone
}
