package fakellm_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// The server stores its answers, and refuses requests that the API refuses.
func TestResponsesRefersToWhatWasStored(t *testing.T) {
	answer := fakellm.Call("edit_file", "{}").AndText("Now.").Reasoning("Hm.")
	ask := func(server *fakellm.Server, body string) (int, string) {
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/responses", strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
	const user, output = `{"role":"user","content":"Go."}`, `{"type":"function_call_output","call_id":"call_1_1","output":"done"}`
	const rs, msg, fc = `{"type":"item_reference","id":"rs_1"}`, `{"id":"msg_1"}`, `{"type":"item_reference","id":"fc_1_1"}`
	for name, tt := range map[string]struct {
		first, second string
		status        int
		says          string
	}{
		"items by reference":         {`{"input":"Go."}`, `{"input":[` + user + "," + rs + "," + msg + "," + fc + "," + output + `]}`, 200, ""},
		"a chain":                    {`{"input":"Go."}`, `{"previous_response_id":"resp_1","input":[` + output + `]}`, 200, ""},
		"an unknown item":            {`{"input":"Go."}`, `{"input":[` + user + `,{"type":"item_reference","id":"msg_7"}]}`, 404, "Item with id 'msg_7' not found."},
		"nothing was stored":         {`{"input":"Go.","store":false}`, `{"input":[` + rs + "," + msg + `]}`, 404, "Item with id 'rs_1' not found."},
		"reasoning alone":            {`{"input":"Go."}`, `{"input":[` + rs + "," + user + `]}`, 400, "without its required following item"},
		"a message alone":            {`{"input":"Go."}`, `{"input":[` + user + "," + msg + `]}`, 400, "without its required 'reasoning' item: 'rs_1'"},
		"a call without output":      {`{"input":"Go."}`, `{"previous_response_id":"resp_1","input":[` + user + `]}`, 400, "No tool output found for function call call_1_1"},
		"an output without its call": {`{"input":"Go."}`, `{"input":[` + output + `]}`, 400, "No tool call found for function call output with call_id call_1_1"},
		"an unknown response":        {`{"input":"Go."}`, `{"previous_response_id":"resp_7","input":"x"}`, 400, "Previous response with id 'resp_7' not found."},
		"nothing to be chained to":   {`{"input":"Go.","store":false}`, `{"previous_response_id":"resp_1","input":"x"}`, 400, "not found"},
	} {
		server := fakellm.NewServer(t, answer, fakellm.Text("Done."))
		status, body := ask(server, tt.first)
		assert.Equal(t, 200, status, body)
		status, body = ask(server, tt.second)
		assert.Equal(t, tt.status, status, "%s: %s", name, body)
		assert.Contains(t, body, tt.says, name)
	}
}
