package decision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/decision"
)

func TestClaimIsActive(t *testing.T) {
	t.Parallel()
	claim := decision.Claim{Token: 5, Since: noon, Until: noon.Add(time.Hour)}
	cases := []struct {
		name  string
		claim decision.Claim
		after time.Duration
		want  bool
	}{
		{"just made", claim, 0, true},
		{"nobody's", decision.Claim{}, 0, false},
		{"nobody's, with a time", decision.Claim{Since: noon}, 0, false},
		{"just before it lapses", claim, time.Hour - 1, true},
		{"lapsed", claim, time.Hour, false},
		{"clock set back", claim, -time.Minute, true},
		{"without an end", decision.Claim{Token: 5, Since: noon}, 1000 * time.Hour, true},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, c.claim.Active(noon.Add(c.after)), c.name)
	}
}
