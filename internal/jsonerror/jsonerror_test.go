package jsonerror_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/jsonerror"
)

func TestAnErrorIsItsTextInJSON(t *testing.T) {
	t.Parallel()
	type holder struct {
		Error jsonerror.Text `json:"error,omitzero"`
	}
	for want, err := range map[string]error{`{}`: nil, `{"error":"broken \"here\""}`: errors.New(`broken "here"`)} {
		data, marshalErr := json.Marshal(holder{jsonerror.Text{Err: err}})
		require.NoError(t, marshalErr)
		require.JSONEq(t, want, string(data))

		back := holder{jsonerror.Text{Err: errors.New("before")}}
		if err == nil {
			data = []byte(`{"error":""}`)
		}
		require.NoError(t, json.Unmarshal(data, &back))
		if err == nil {
			require.NoError(t, back.Error.Err)
		} else {
			require.EqualError(t, back.Error.Err, err.Error())
		}
	}
	text, err := jsonerror.Text{}.MarshalText()
	require.NoError(t, err)
	assert.Empty(t, text)
}
