package transport

import (
	"net/http"

	"github.com/carryon-go/carryon/internal/wire"
	"github.com/carryon-go/carryon/middleware"
)

// NewFor is New for other protocols.
func NewFor(base http.RoundTripper, mw *middleware.Middleware, protocols ...wire.Protocol) http.RoundTripper {
	return &transport{base: base, mw: mw, protocols: protocols}
}

var ErrStatus = errStatus
