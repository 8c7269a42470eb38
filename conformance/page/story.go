package page

import (
	"context"
	"net/http"
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
	site := request{session: "tea-shop-website", key: "sk-one", model: "gpt-5.2", work: "Write page", stream: true}
	bugs := request{session: "fix-login-bug", key: "sk-two", model: "claude-sonnet-4-6", work: "Step"}
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
		{40 * time.Second, with(site, done, done, active, pending), answers(says("Shall I go on?", 7_010, 40, 1800),
			fails(http.StatusBadRequest, `{"error":{"message":"The conversation is too long for gpt-5.2"}}`, 700))},
		{20 * time.Second, with(resumed, done, done, active, pending), answers(acts(7_090, 620, 7300))},
		{75 * time.Second, with(resumed, done, done, done, active), answers(says("Now the contact page.", 7_720, 52, 2000), acts(7_830, 470, 5600))},
		{2 * time.Second, with(resumed, done, done, done, done), answers(says("All four pages are written.", 8_320, 240, 4400))},
		{3 * time.Second, with(later, done, done), answers(says("The bug is fixed: the session cookie had no expiry.", 8_150, 310, 5100))},
		{4 * time.Second, loose, answers(says("Login bug fixed", 190, 7, 800))},
	}
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
