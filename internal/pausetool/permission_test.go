package pausetool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/pausetool"
)

func ExampleNeedsNoPermission() {
	fmt.Println(pausetool.NeedsNoPermission("Awaiting confirmation to continue"))
	fmt.Println(pausetool.NeedsNoPermission("Awaiting confirmation to delete the old branches"))
	// Output:
	// Invalid pause reason: No permission is needed: go on with the task
	// <nil>
}

func TestNeedsNoPermissionRejectsWhatOnlyAsksToGoOn(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"awaiting confirmation to continue", "Should I proceed with the next item?", "Waiting for user confirmation.",
		"Waiting for your approval", "Do you want me to continue with part 3?", "Would you like me to start the second task?",
		"Need permission to proceed to the next step", "Ready to continue with the tests", "Please confirm that I should go on",
		"I need your go-ahead before I start the next phase", "Shall we move on to the styles?", "Awaiting user's approval to begin implementation",
		"WAITING FOR THE USER TO CONFIRM BEFORE CONTINUING", "May I go on with the remaining items?",
		strings.Repeat("Should I proceed? ", 11) + "ok", // the longest that is looked at
	} {
		assert.ErrorIs(t, pausetool.NeedsNoPermission(reason), pausetool.ErrInvalidReason, reason)
	}
}

func TestNeedsNoPermissionAcceptsWhatAPersonHasToSettle(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"Which of the two databases should I use to continue?", "Should I continue with option A or option B?",
		"Awaiting confirmation to delete the old branches", "Need approval before I deploy to production and continue",
		"The API key is missing, please provide it to continue", "Cannot continue: permission denied", "May I push to main and proceed?",
		"Waiting for the other agent to finish before I continue", "The build failed; should I proceed anyway?",
		"Need a decision about the schema before I proceed", "Waiting for the background job to continue",
		"No such file: config.json", "Package 'react-router-dom' is not installed but required", "", "Подтвердите, пожалуйста", "I continue with the remaining items",
		"Should I proceed? " + strings.Repeat("There is much to say about it. ", 10),
	} {
		require.NoError(t, pausetool.NeedsNoPermission(reason), reason)
	}
}
