package proxy

import (
	"log/slog"
	"net/http"
	"sync"
)

// hints says what is probably wrong when an upstream refuses, once each.
type hints struct {
	logger            *slog.Logger
	notFound, refused sync.Once
}

// answered looks at an answer of the upstream's.
func (h *hints) answered(r *http.Response) {
	switch r.StatusCode {
	case http.StatusNotFound:
		if speaks(r.Request.URL.Path) {
			h.notFound.Do(func() {
				h.logger.Warn("the upstream has nothing there: is -upstream right? Base URLs end in /v1, as a rule",
					slog.String("path", r.Request.URL.Path))
			})
		}
	case http.StatusUnauthorized:
		h.refused.Do(func() {
			h.logger.Warn("the upstream refused a client's key: clients send their own, and the proxy has none")
		})
	}
}
