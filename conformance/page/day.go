package page

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/carryon-go/carryon/carryontest"
)

// script has the answers to one request. What a request leaves over answers no other.
type script struct {
	scene *scene
	mu    sync.Mutex
	left  []answer
}

// next returns the next answer, or an error once they are used up.
func (s *script) next(carryontest.Request) carryontest.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 {
		return carryontest.Status(http.StatusInternalServerError, `{}`)
	}
	next := s.left[0]
	s.left = s.left[1:]
	if s.scene.clock != nil {
		s.scene.clock.Advance(next.took)
	}
	return next.turn
}

// take returns how many answers are left, and replaces them.
func (s *script) take(answers []answer) (left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, s.left = len(s.left), answers
	return left
}

// ask sends a request that the model answers with some of the answers, and reports whether it gave all.
func (s *script) ask(ctx context.Context, r *request, answers ...answer) (all bool, err error) {
	s.take(answers)
	for range answers {
		s.scene.model.Append(carryontest.Func(s.next))
	}
	if err := s.scene.ask(ctx, r); err != nil {
		return false, err
	}
	left := s.take(nil)
	for range left { // the server would give them to the next request
		response, err := s.scene.post(ctx, s.scene.upstream.URL, r)
		if err != nil {
			return false, err
		}
		_ = response.Body.Close() // nobody reads it
	}
	return left == 0, nil
}

// agent is a session that works on a list of three todos.
type agent struct {
	name   string
	model  string
	key    string
	size   int           // what its tokens are multiplied by
	stalls bool          // it stops after the first todo
	back   bool          // its user comes back and says go on if nobody has resumed it
	away   time.Duration // how long the user takes to come back
	stream bool
}

// day has the agents work, one after the other.
func (s *scene) day(ctx context.Context, agents []agent) error {
	model := &script{scene: s}
	for i := range agents {
		if s.clock != nil {
			s.clock.Advance(7 * time.Minute)
		}
		if err := agents[i].work(ctx, model); err != nil {
			return err
		}
	}
	return nil
}

func (a *agent) work(ctx context.Context, model *script) error {
	r := request{session: a.name, model: a.model, key: a.key, user: "Do it all.", todos: []string{"completed", "pending", "pending"}, work: "Step", stream: a.stream}
	if _, err := model.ask(ctx, &r, acts(1000*a.size, 100*a.size, 900)); err != nil {
		return err
	}
	if a.stalls {
		resumed, err := model.ask(ctx, &r, says("I have done the first step.", 1000*a.size, 60*a.size, 1500), acts(1200*a.size, 100*a.size, 1100))
		if err != nil || !resumed && !a.back {
			return err
		}
		if !resumed {
			if a.away > 0 {
				model.scene.clock.Advance(a.away)
			}
			r.user = "" // so that the message is "Go on."
			if _, err := model.ask(ctx, &r, acts(1300*a.size, 100*a.size, 900)); err != nil {
				return err
			}
		}
	}
	r.todos = []string{"completed", "completed", "completed"}
	_, err := model.ask(ctx, &r, says("All done.", 1500*a.size, 50*a.size, 700))
	return err
}
