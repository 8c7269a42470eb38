package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/carryon-go/carryon/middleware"
)

// control changes the rules of a running proxy, and switches continuing off and on.
type control struct {
	config     *Config
	middleware *middleware.Middleware
	logger     *slog.Logger
	madeUp     string // the secret of the switch, if nobody has chosen one

	mu    sync.Mutex
	off   bool // the switch is off
	until until
}

// newControl returns the control of a proxy.
func newControl(c *Config, mw *middleware.Middleware, logger *slog.Logger) *control {
	return &control{config: c, middleware: mw, logger: logger, madeUp: rand.Text()}
}

// reload reads the file of -settings again. A file with an error changes nothing.
func (c *control) reload() {
	next, err := c.config.fromFile(c.config.Settings)
	if err != nil {
		c.logger.Error("the settings were not changed", slog.Any("error", err))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.config.rules().all()
	c.apply(&next)
	changed := false
	for i, now := range next.all() {
		if was := before[i].value; was != now.value {
			changed = true
			c.logger.Warn("a setting was changed", slog.String("setting", now.name), slog.String("old", fmt.Sprint(was)), slog.String("new", fmt.Sprint(now.value)))
		}
	}
	if !changed {
		c.logger.Info("the settings were read again, and are the same")
	}
}

// start puts the rules in force with which the proxy starts.
func (c *control) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apply(c.config.rules())
}

// apply puts rules in force that were checked: for the calls that begin from now on,
// and the mode and the switch for all decisions. The caller holds the lock.
func (c *control) apply(next *Rules) {
	level, _ := next.level() // it was checked
	c.config.level.Set(level)
	rules := next.ofCalls()
	rules.Check = c.until.check(next)
	c.report(c.middleware.SetRules(rules))
	c.report(c.middleware.Settings().SetApprovalMode(context.Background(), "", next.approval()))
	c.settle(next)
}

// switchTo switches continuing off, or on again. by says who does it.
func (c *control) switchTo(on bool, by string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = !on
	c.settle(c.config.rules())
	c.logger.Warn("continuing was switched", slog.Bool("on", on), slog.String("by", by), slog.Bool("continuing", c.config.offSince().IsZero()))
}

// settle puts rules in force, and turns continuing off if the switch or the rules say
// so. No new continuation starts then, and those under way finish. The caller holds
// the lock.
func (c *control) settle(rules *Rules) {
	next := inForce{Rules: *rules}
	if c.off || !rules.TodoContinuation {
		if next.offSince = c.config.offSince(); next.offSince.IsZero() {
			next.offSince = c.config.now()
		}
	}
	c.config.current.Store(&next)
	c.report(c.middleware.Settings().SetTodoContinuation(context.Background(), "", next.offSince.IsZero()))
}

// report logs an error that checked rules cannot cause.
func (c *control) report(err error) {
	if err != nil {
		c.logger.Error("a setting was not changed", slog.Any("error", err))
	}
}

const (
	// continuingPath is where an operator switches continuing off, beside the page.
	continuingPath = pagePath + "/continuing"
	healthPath     = "/healthz"
)

// maxForm is the size in bytes of a form that is read.
const maxForm = 1 << 10

// ServeHTTP switches continuing: a POST has the form value on, true or false. It needs the
// secret, because an address proves nothing: whoever reaches a balancer on this machine
// comes from this machine.
func (c *control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		on, err := strconv.ParseBool(r.FormValue("on"))
		switch {
		case http.NewCrossOriginProtection().Check(r) != nil: // guard may let some websites use the proxy
			refuse(w, r, http.StatusForbidden, "a website may not switch continuing")
			return
		case !c.knowsSecret(r):
			refuse(w, r, http.StatusForbidden, "switching needs the secret of "+secretVariable+
				", as in curl -u :SECRET -d on=false; without that variable, the proxy prints a secret when it starts")
			return
		case err != nil:
			refuse(w, r, http.StatusBadRequest, "on must be true or false, as in curl -d on=false")
			return
		}
		c.switchTo(on, "POST "+continuingPath)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	since := c.config.offSince()
	_ = json.NewEncoder(w).Encode(struct { //nolint:errchkjson // the client may be gone
		Continuing bool      `json:"continuing"`
		OffSince   time.Time `json:"off_since,omitzero"`
	}{since.IsZero(), since})
}

// knowsSecret reports whether a request has the secret of the switch as its password. The
// time that it takes does not tell how much of a guess is right.
func (c *control) knowsSecret(r *http.Request) bool {
	_, password, _ := r.BasicAuth()
	given, secret := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(cmp.Or(c.config.SwitchSecret, c.madeUp)))
	return subtle.ConstantTimeCompare(given[:], secret[:]) == 1
}

// switchOff returns the command that switches continuing off at the URL root. It quotes no
// secret that somebody has chosen.
func (c *control) switchOff(root string) string {
	secret := "$" + secretVariable
	if c.config.SwitchSecret == "" {
		secret = c.madeUp
	}
	return fmt.Sprintf("curl -u :%s -d on=false %s%s", secret, root, continuingPath)
}

// healthy answers 200, and says if continuing is off.
func (c *control) healthy(w http.ResponseWriter, _ *http.Request) {
	text := "ok\n"
	if since := c.config.offSince(); !since.IsZero() {
		text += "continuing is off since " + since.Format(time.RFC3339) + "\n"
	}
	_, _ = w.Write([]byte(text)) // the client may be gone
}
