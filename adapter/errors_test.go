package adapter_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/adapter"
)

func TestRetryOfReadsThePause(t *testing.T) {
	t.Parallel()
	const date, aYear = "Fri, 01 Mar 2030 12:00:00 GMT", 365 * 24 * time.Hour
	for name, tt := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"none":                         {nil, 0},
		"seconds":                      {map[string]string{"Retry-After": "7"}, 7 * time.Second},
		"seconds in blanks":            {map[string]string{"Retry-After": " 7 "}, 7 * time.Second},
		"a part of a second":           {map[string]string{"Retry-After": "0.25"}, 250 * time.Millisecond},
		"no time":                      {map[string]string{"Retry-After": "0"}, 0},
		"a date":                       {map[string]string{"Date": date, "Retry-After": "Fri, 01 Mar 2030 12:00:09 GMT"}, 9 * time.Second},
		"a date that has passed":       {map[string]string{"Date": date, "Retry-After": "Fri, 01 Mar 2030 11:59:59 GMT"}, 0},
		"milliseconds":                 {map[string]string{"Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		"milliseconds before seconds":  {map[string]string{"Retry-After-Ms": "1500", "Retry-After": "2"}, 1500 * time.Millisecond},
		"seconds for want of the rest": {map[string]string{"Retry-After-Ms": "soon", "Retry-After": "2"}, 2 * time.Second},
		"negative":                     {map[string]string{"Retry-After": "-1"}, 0},
		"words":                        {map[string]string{"Retry-After": "soon"}, 0},
		"a date in words":              {map[string]string{"Retry-After": "Friday at noon"}, 0},
		"not a number":                 {map[string]string{"Retry-After": "NaN"}, 0},
		"infinite":                     {map[string]string{"Retry-After": "Inf"}, 0},
		"hexadecimal":                  {map[string]string{"Retry-After": "0x1p-2"}, 0},
		"an exponent":                  {map[string]string{"Retry-After": "1e9"}, 0},
		"two points":                   {map[string]string{"Retry-After": "1.2.3"}, 0},
		"a point":                      {map[string]string{"Retry-After": "."}, 0},
		"large":                        {map[string]string{"Retry-After": "9000000000000"}, aYear},
		"too large for a float":        {map[string]string{"Retry-After": strings.Repeat("9", 400)}, aYear},
		"a date far away":              {map[string]string{"Date": date, "Retry-After": "Fri, 01 Mar 9999 12:00:00 GMT"}, 1<<63 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			for key, value := range tt.header {
				header.Set(key, value)
			}
			assert.Equal(t, adapter.Retry{After: tt.want}, adapter.RetryOf(header.Get))
		})
	}
}

// A provider need not send a Date.
func TestRetryOfReadsADateByTheLocalClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat)
		assert.Equal(t, 9*time.Second, adapter.RetryOf(http.Header{"Retry-After": {at}}.Get).After)
	})
}

func TestRetryOfReadsThatNoneIsWanted(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"false": true, " False ": true, "true": false, "": false, "no": false} {
		assert.Equal(t, want, adapter.RetryOf(http.Header{"X-Should-Retry": {value}}.Get).Never, "%q", value)
	}
}

func ExampleRetryOf() {
	header := http.Header{"Retry-After": {"2"}} // of the answer that the SDK's error shows
	var err error = &adapter.StatusError{Status: 429, Err: errors.New("sdk: slow down"), Retry: adapter.RetryOf(header.Get)}
	fmt.Println(err)
	// Output: sdk: slow down
}
