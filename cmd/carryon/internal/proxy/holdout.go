package proxy

import (
	"fmt"
	"math"
	"time"

	"github.com/carryon-go/carryon/cmd/carryon/internal/numbers"
	"github.com/carryon-go/carryon/cmd/carryon/internal/price"
	"github.com/carryon-go/carryon/middleware"
)

// arm sums up the sessions of one arm of the holdout. It counts sessions and not user
// turns: the holdout assigns a session as a whole, and the turns of one session are
// alike, so ranges over turns would be too narrow. Only sessions with a todo list or a check count, because carryon
// changes nothing in the others.
type arm struct {
	Sessions int               `json:"sessions,omitzero"`
	Finished int               `json:"finished,omitzero"` // the commands of -until passed or, without them, no work is left on the list that was seen last
	Told     int               `json:"told,omitzero"`     // the user had to say go on
	GoOns    int               `json:"go_ons,omitzero"`   // how often, in all of them
	Used     middleware.Tokens `json:"used,omitzero"`     // in all of them
	Tokens   sample            `json:"tokens,omitzero"`
	Seconds  sample            `json:"seconds,omitzero"`

	Unreported int `json:"unreported,omitzero"` // turns whose tokens are not known in full
}

func (a *arm) add(c *sessionFigures) {
	a.Sessions++
	if c.isFinished() {
		a.Finished++
	}
	if c.GoOns > 0 {
		a.Told++
	}
	a.GoOns += c.GoOns
	a.Used = a.Used.Plus(c.Tokens)
	a.Tokens.add(float64(c.Tokens.Total()))
	a.Seconds.add(float64(c.Millis) / 1000)
	a.Unreported += c.Unreported
}

func (a arm) plus(other arm) arm {
	return arm{
		Sessions: a.Sessions + other.Sessions, Finished: a.Finished + other.Finished, Told: a.Told + other.Told, GoOns: a.GoOns + other.GoOns,
		Used: a.Used.Plus(other.Used), Tokens: a.Tokens.plus(other.Tokens), Seconds: a.Seconds.plus(other.Seconds),
		Unreported: a.Unreported + other.Unreported,
	}
}

// gone are the arms of sessions that have no figures of their own any more, for one
// share of the holdout: those of another share cannot be compared with them.
type gone struct {
	Share     float64   `json:"share,omitzero"`
	Since     time.Time `json:"since,omitzero"` // the beginning of a session with that share
	Continued arm       `json:"continued,omitzero"`
	HeldOut   arm       `json:"held_out,omitzero"`
}

// take adds a session that is dropped.
func (g *gone) take(c *sessionFigures) {
	if c.Mixed || !c.isCompared() {
		return
	}
	one := gone{Share: c.Share, Since: c.Began}
	one.of(c).add(c)
	g.merge(&one)
}

// of returns the arm of a session.
func (g *gone) of(c *sessionFigures) *arm {
	if c.HeldOut {
		return &g.HeldOut
	}
	return &g.Continued
}

// merge adds others. If their share differs, those with the later one stay.
func (g *gone) merge(other *gone) {
	switch {
	case other.Share == g.Share:
		g.Continued, g.HeldOut = g.Continued.plus(other.Continued), g.HeldOut.plus(other.HeldOut)
		if other.Since.After(g.Since) {
			g.Since = other.Since
		}
	case other.Since.After(g.Since):
		*g = *other
	}
}

// arms returns both arms of a share: of the sessions that have never seen another one.
func (f *figures) arms(share float64) (continued, heldOut arm) {
	var both gone
	if f.Gone.Share == share {
		both = f.Gone
	}
	for _, c := range f.Sessions {
		if c.isCompared() && !c.Mixed && c.Share == share {
			both.of(&c).add(&c)
		}
	}
	return both.Continued, both.HeldOut
}

// enough is how many sessions with a list each arm must have before the arms are
// compared. With fewer, a range says that nearly everything is possible.
const enough = 10

// comparison is what the holdout has found out.
type comparison struct {
	Share     float64  `json:"share"`
	Needed    int      `json:"needed"` // sessions in each arm
	Enough    bool     `json:"enough"`
	Continued shownArm `json:"continued"`
	HeldOut   shownArm `json:"held_out"`

	// What sessions that carryon continued have more than the others.
	Finished difference `json:"finished"`
	Told     difference `json:"told"`
	Tokens   difference `json:"tokens"`
	Seconds  difference `json:"seconds"`

	Verdict string `json:"verdict"` // in a sentence or two
}

// shownArm is an arm as the page shows it.
type shownArm struct {
	Sessions int        `json:"sessions"`
	Finished shownShare `json:"finished"`
	Told     shownShare `json:"told"`
	GoOns    int        `json:"go_ons"`
	Tokens   float64    `json:"tokens"`  // mean of a session
	Seconds  float64    `json:"seconds"` // likewise
	Money    *float64   `json:"money,omitempty"`

	Unreported int `json:"unreported,omitempty"` // turns whose tokens are not known in full
}

// shownShare is a share with its 95% range.
type shownShare struct {
	Count int     `json:"count"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func shareOf(count, all int) shownShare {
	low, high := wilson(count, all)
	return shownShare{count, share(count, all), low, high}
}

func (a *arm) show(c *Config) shownArm {
	shown := shownArm{
		Sessions: a.Sessions, Finished: shareOf(a.Finished, a.Sessions), Told: shareOf(a.Told, a.Sessions), GoOns: a.GoOns,
		Tokens: a.Tokens.mean(a.Sessions), Seconds: a.Seconds.mean(a.Sessions),
		Unreported: a.Unreported,
	}
	if money := c.price().Of(a.Used); money != nil && a.Sessions > 0 && a.Unreported == 0 {
		*money /= float64(a.Sessions)
		shown.Money = money
	}
	return shown
}

// compare compares both arms of the holdout. Without one, and in a dry run, which
// continues neither arm, there is nothing to compare.
func (f *figures) compare(c *Config) *comparison {
	share, err := c.rules().share()
	if err != nil || share == 0 || c.rules().DryRun {
		return nil
	}
	a, b := f.arms(share)
	compared := &comparison{
		Share: share, Needed: enough, Enough: min(a.Sessions, b.Sessions) >= enough,
		Continued: a.show(c), HeldOut: b.show(c),
		Finished: newcombe(a.Finished, a.Sessions, b.Finished, b.Sessions),
		Told:     newcombe(a.Told, a.Sessions, b.Told, b.Sessions),
		Tokens:   welch(a.Tokens, a.Sessions, b.Tokens, b.Sessions),
		Seconds:  welch(a.Seconds, a.Sessions, b.Seconds, b.Sessions),
	}
	compared.Verdict = compared.verdict(f)
	return compared
}

// stalls returns how many turns ended with work left. A closing question follows a turn
// that had no list, so it is not about a stall.
func (f *figures) stalls() int {
	return max(0, f.Counts.Continuations+f.Worth.Unsent-f.Counts.Questions)
}

// verdict says whether carryon is worth it, and why.
func (c *comparison) verdict(f *figures) string {
	a, b := &c.Continued, &c.HeldOut
	if !c.Enough {
		return c.missing(&f.Counts)
	}
	text := fmt.Sprintf("%s: lists were finished in %s of %s sessions with carryon and in %s of %s without: ", c.conclusion(f.stalls()),
		numbers.Grouped(a.Finished.Count), numbers.Grouped(a.Sessions), numbers.Grouped(b.Finished.Count), numbers.Grouped(b.Sessions))
	text += inPoints(c.Finished)
	if a.GoOns+b.GoOns > 0 {
		text += fmt.Sprintf(`; users had to say "go on" in %s with carryon and in %s without: %s`,
			numbers.Of(a.Told.Count, "session"), numbers.Grouped(b.Told.Count), inPoints(c.Told))
	}
	if c.hidesTokens() {
		return text + "; what a session took is not known, because the provider did not report all tokens"
	}
	text += "; a session took " + changeOf(a.Tokens, b.Tokens) + " tokens"
	if a.Money == nil || b.Money == nil {
		return text
	}
	with, without := price.Dollars(*a.Money), price.Dollars(*b.Money)
	if with == without {
		return text + " (" + with + ")"
	}
	return text + " (" + with + " instead of " + without + ")"
}

// missing says why there is nothing to compare yet.
func (c *comparison) missing(n *counts) string {
	all := c.Continued.Sessions + c.HeldOut.Sessions
	switch {
	case all == 0 && n.Listed == 0 && n.Lists > 0:
		return fmt.Sprintf("nothing to compare: calls with a todo list have named no session, so none was held out; a header %s would name it", sessionHeader)
	case all == 0 && n.Listed == 0:
		return fmt.Sprintf("nothing to compare yet: no session has had a todo list; each side needs %d", c.Needed)
	}
	text := fmt.Sprintf("not enough sessions yet to compare: %s with carryon and %s without have had a todo list; each side needs %d",
		numbers.Grouped(c.Continued.Sessions), numbers.Grouped(c.HeldOut.Sessions), c.Needed)
	if n.Listed > all {
		text += "; sessions that began with another share, in a dry run or while continuing was off do not count"
	}
	return text
}

// conclusion says whether carryon is worth it, and up to which price.
func (c *comparison) conclusion(stalls int) string {
	better, worse := c.Finished.Low > 0 || c.Told.High < 0, c.Finished.High < 0 || c.Told.Low > 0
	switch {
	case stalls == 0:
		return "not worth it here, because no turn stalled"
	case better && worse && c.Finished.Low > 0:
		return `better and worse: more lists are finished, but users say "go on" more often`
	case better && worse:
		return `better and worse: users say "go on" less often, but fewer lists are finished`
	case worse:
		return "not worth it"
	case !better:
		return "not certain yet whether it is worth it"
	case !c.costsMore():
		return "worth it"
	case c.Finished.Low > 0:
		return fmt.Sprintf("worth it if one more finished list is worth %s to you", c.costOf(c.Finished.Value))
	}
	return fmt.Sprintf(`worth it if one more session without a "go on" is worth %s to you`, c.costOf(-c.Told.Value))
}

// leastMoney is the smallest difference that the page shows between two amounts. A
// smaller one counts as none.
const leastMoney = 0.0001

// costsMore reports whether a session costs more with carryon: in money if a price is
// known, because an output token costs many times as much as a cached one.
func (c *comparison) costsMore() bool {
	if c.hidesTokens() {
		return true // nothing is free
	}
	if money := c.extraMoney(); money != nil {
		return *money >= leastMoney/2
	}
	return math.Round(c.Tokens.Value) > 0
}

// hidesTokens reports whether the provider has not said what all turns have used.
func (c *comparison) hidesTokens() bool { return c.Continued.Unreported+c.HeldOut.Unreported > 0 }

// extraMoney returns how much more money a session costs with carryon, or nil if no price
// is known.
func (c *comparison) extraMoney() *float64 {
	if c.Continued.Money == nil || c.HeldOut.Money == nil {
		return nil
	}
	money := *c.Continued.Money - *c.HeldOut.Money
	return &money
}

// costOf returns what carryon used for each of the sessions that it changed, which are a
// share of all. Money may be spent with fewer tokens, and then stands alone.
func (c *comparison) costOf(share float64) string {
	if c.hidesTokens() {
		return "an unknown number of tokens"
	}
	used, money := middleware.Tokens{Input: int(math.Round(c.Tokens.Value / share))}, c.extraMoney()
	if money == nil {
		return cost(used, nil)
	}
	each := *money / share
	if used.Input <= 0 {
		return price.Dollars(each)
	}
	return cost(used, &each)
}

// inPoints says how far two shares lie apart.
func inPoints(d difference) string {
	low, high := percentage(d.Low), percentage(d.High)
	if !d.isSure() {
		return fmt.Sprintf("no difference is certain (95%% range: %+d to %+d points)", low, high)
	}
	more, n := "more", percentage(d.Value)
	if n < 0 {
		more, n = "fewer", -n
	}
	return fmt.Sprintf("%d points %s (95%% range: %+d to %+d)", n, more, low, high)
}

func percentage(share float64) int { return int(math.Round(100 * share)) }

// changeOf says what becomes of a mean.
func changeOf(with, without float64) string {
	text := numbers.Grouped(int(math.Round(with)))
	switch change := percentage(with/max(without, 1) - 1); {
	case without == 0 || change == 0:
		return text
	case change < 0:
		return fmt.Sprintf("%d%% fewer", -change)
	default:
		return fmt.Sprintf("%d%% more", change)
	}
}

// z is the quantile of the normal distribution that makes a range of 95 %.
const z = 1.959963984540054

// wilson returns the 95 % range of a share of which count of all were seen, by
// Wilson's method. It holds for small numbers, and at 0 and 1, too.
func wilson(count, all int) (low, high float64) {
	if all == 0 {
		return 0, 1
	}
	n := float64(all)
	p := float64(count) / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// newcombe returns the difference of two shares and its 95 % range, by Newcombe's
// method, which is made of Wilson's ranges.
func newcombe(count, all, otherCount, otherAll int) difference {
	p, q := share(count, all), share(otherCount, otherAll)
	pLow, pHigh := wilson(count, all)
	qLow, qHigh := wilson(otherCount, otherAll)
	d := p - q
	return difference{d, d - math.Hypot(p-pLow, qHigh-q), d + math.Hypot(pHigh-p, q-qLow)}
}

func share(count, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(count) / float64(all)
}

// difference is what one arm has more than the other, with its 95 % range.
type difference struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// isSure reports whether the range leaves no doubt about which arm has more.
func (d difference) isSure() bool { return d.Low > 0 || d.High < 0 }

// sample sums up numbers so that their mean has a range.
type sample struct {
	Sum     float64 `json:"sum,omitzero"`
	Squares float64 `json:"squares,omitzero"`
}

func (s *sample) add(x float64) { s.Sum, s.Squares = s.Sum+x, s.Squares+x*x }

func (s sample) plus(other sample) sample {
	return sample{s.Sum + other.Sum, s.Squares + other.Squares}
}

func (s sample) mean(n int) float64 {
	if n == 0 {
		return 0
	}
	return s.Sum / float64(n)
}

// errorOf returns the variance of the mean of n numbers.
func (s sample) errorOf(n int) float64 {
	if n < 2 {
		return 0
	}
	mean := s.mean(n)
	return max(0, s.Squares-float64(n)*mean*mean) / float64(n-1) / float64(n)
}

// welch returns the difference of two means and its 95 % range. The distribution is
// taken to be normal, which enough makes true enough.
func welch(s sample, n int, other sample, otherN int) difference {
	d := s.mean(n) - other.mean(otherN)
	half := z * math.Sqrt(s.errorOf(n)+other.errorOf(otherN))
	return difference{d, d - half, d + half}
}
