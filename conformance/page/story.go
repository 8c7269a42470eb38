package page

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/carryon-go/carryon/carryontest"
)

// storyBegins is when the first request is sent.
var storyBegins = time.Date(2026, time.May, 12, 8, 4, 0, 0, time.UTC) //nolint:gochecknoglobals // constant

// tell sends what two agents and a script might send in twenty minutes, so that the page shows every kind of request.
func (s *scene) tell(ctx context.Context) error {
	for _, step := range story() {
		if s.clock != nil {
			s.clock.Advance(step.pause)
		}
		if err := s.ask(ctx, &step.request, step.answers...); err != nil {
			return err
		}
	}
	return nil
}

// step is a request, and the time since the one before it.
type step struct {
	pause   time.Duration
	request request
	answers []answer
}

func story() []step {
	const pending, active, done = "pending", "in_progress", "completed"
	site := request{session: "tea-shop-website", key: "sk-tea", model: "gpt-5.2", work: "Write page", stream: true}
	bugs := request{session: "fix-login-bug", key: "sk-shop", model: "claude-sonnet-4-6", work: "Step"}
	with := func(r request, todos ...string) request { r.todos = todos; return r }
	loose := request{key: "sk-one", model: "gpt-5.2-mini", raw: `{"model":"gpt-5.2-mini","messages":[{"role":"user","content":"Write a title."}]}`}
	other := site
	other.path, other.raw = "/v1/embeddings", `{"model":"text-embedding-4","input":"tea"}`
	later, resumed := bugs, site
	later.user, resumed.user = "The logs are in logs/.", "Try again."

	return []step{
		{0, loose, answers(says("Tea shop website", 210, 8, 900))},
		{2 * time.Second, with(site), answers(acts(2_840, 190, 4200))},
		{time.Second, with(site, active, pending, pending, pending), answers(acts(3_110, 640, 7800))},
		{3 * time.Second, with(site, active, pending, pending, pending), answers(says("Next I will write the menu.", 3_800, 96, 2900), acts(3_990, 720, 8300))},
		{time.Second, with(site, done, active, pending, pending), answers(acts(4_720, 580, 6900))},
		{70 * time.Second, with(bugs), answers(acts(5_200, 240, 3600))},
		{time.Second, with(bugs, active, pending), answers(acts(5_600, 310, 5200))},
		{2 * time.Second, with(bugs, active, pending), answers(acts(6_040, 150, 2700))},
		{2 * time.Second, other, nil},
		{95 * time.Second, with(site, done, active, pending, pending), answers(says("The menu is done. I will do the rest later.", 5_300, 120, 3100),
			says("I will now write the page on brewing.", 5_560, 64, 2100), acts(5_760, 690, 7700))},
		{2 * time.Second, with(site, done, done, active, pending), answers(acts(6_480, 510, 6100))},
		{40 * time.Second, with(bugs, done, active), answers(says("I need the production logs to go on.", 6_900, 210, 4000),
			pauses("The production logs are needed to find the cause", 7_150, 85, 2600))},
		{130 * time.Second, with(later, done, active), answers(acts(7_420, 330, 4700))},
		{2 * time.Second, with(later, done, active), answers(acts(7_800, 260, 3900))},
		{45 * time.Second, with(site, done, done, active, pending), answers(says("I will write the page on brewing next.", 6_700, 48, 1900), acts(6_850, 610, 6900))},
		{40 * time.Second, with(site, done, done, active, pending), answers(says("The page on brewing is done. Next is the contact page.", 7_010, 40, 1800),
			fails(http.StatusBadRequest, `{"error":{"message":"The conversation is too long for gpt-5.2"}}`, 700))},
		{20 * time.Second, with(resumed, done, done, active, pending), answers(acts(7_090, 620, 7300))},
		{75 * time.Second, with(resumed, done, done, done, active), answers(says("Now the contact page.", 7_720, 52, 2000), acts(7_830, 470, 5600))},
		{2 * time.Second, with(resumed, done, done, done, done), answers(says("All four pages are written.", 8_320, 240, 4400))},
		{3 * time.Second, with(later, done, done), answers(says("The bug is fixed: the session cookie had no expiry.", 8_150, 310, 5100))},
		{4 * time.Second, loose, answers(says("Login bug fixed", 190, 7, 800))},
	}
}

// morning is the work of half a day. With half of the sessions held out, 14 of them are continued.
func morning() []agent {
	names := strings.Fields(`shop-banner opening-hours store-finder cookie-banner flaky-tests rate-limits image-sizes gift-boxes api-docs
		sign-up-form password-reset update-dependencies link-checker admin-page backup-script tax-rates returns-page release-notes
		search-index seo-titles invoice-pdf loyalty-cards review-stars mobile-menu csv-import`)
	agents := make([]agent, len(names))
	for i, name := range names {
		agents[i] = agent{name: name, key: "sk-one", model: "gpt-5.2", size: 4 + i%3, stalls: i%4 != 3, back: i%3 == 0, away: 4 * time.Minute, stream: true}
	}
	return agents
}

// tellOfNow sends the requests of sessions that have work left, each for another reason. The model is still answering
// the last one, until open is closed. sent receives the error of that request.
func (s *scene) tellOfNow(ctx context.Context, open <-chan struct{}, sent chan<- error) error {
	const pending, active, done = "pending", "in_progress", "completed"
	of := func(session string, todos ...string) request {
		return request{session: session, key: "sk-shop", model: "gpt-5.2", work: "Step", stream: true, todos: todos}
	}
	translate := of("translate-menu", done, active, pending)
	translate.launched = "Async agent launched successfully.\nagentId: a93c01"
	stock := of("stock-report", active, pending, pending, pending)
	stock.key = "sk-one"
	for _, step := range []step{
		{time.Second, stock, answers(says("Next I will read the deliveries.", 2_200, 40, 1500), acts(2_300, 210, 3100))},
		{20 * time.Second, of("price-list", done, done, active, pending), answers(says("The prices are in. I will add the currencies next.", 4_100, 80, 2300))},
		{15 * time.Second, of("product-photos", done, active, pending), answers(says("Next I will add the photos of the green teas.", 3_900, 70, 2100), pauses("The photos of the green teas are missing", 4_050, 60, 1900))},
		{12 * time.Second, translate, answers(says("The translator is at work in the background.", 5_200, 40, 1700))},
		{9 * time.Second, of("customer-newsletter", done, done, active), answers(says("Shall it go to all customers, or only to those who bought tea this year?", 3_300, 90, 2600))},
	} {
		s.clock.Advance(step.pause)
		if err := s.ask(ctx, &step.request, step.answers...); err != nil {
			return err
		}
	}
	s.clock.Advance(6 * time.Second)
	s.model.Append(carryontest.Call("edit_file", `{"path":"stock.py"}`).GateAfter(1, open))
	stock.todos = []string{done, active, pending, pending}
	go func() { sent <- s.ask(ctx, &stock) }()
	return nil
}

func answers(all ...answer) []answer { return all }

func says(text string, prompt, completion, ms int) answer {
	return answer{carryontest.Text(text).Usage(prompt, completion), time.Duration(ms) * time.Millisecond}
}

func acts(prompt, completion, ms int) answer {
	return answer{carryontest.Call("edit_file", `{"path":"page.html"}`).Usage(prompt, completion), time.Duration(ms) * time.Millisecond}
}

func pauses(reason string, prompt, completion, ms int) answer {
	return answer{carryontest.Pause(reason).Usage(prompt, completion), time.Duration(ms) * time.Millisecond}
}

func fails(status int, body string, ms int) answer {
	return answer{carryontest.Status(status, body), time.Duration(ms) * time.Millisecond}
}
