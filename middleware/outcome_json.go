package middleware

import (
	"encoding/json"

	"github.com/carryon-go/carryon/internal/jsonerror"
)

// MarshalJSON returns the fields, with the text of Err as "error" and the code of
// the reason.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(outcomeJSON{outcomeFields(o), jsonerror.Text{Err: o.Err}})
}

// UnmarshalJSON reads what [Outcome.MarshalJSON] returns. Of Err, it restores the
// text only.
func (o *Outcome) UnmarshalJSON(data []byte) error {
	var fields outcomeJSON
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*o = Outcome(fields.outcomeFields)
	o.Err = fields.Error.Err
	return nil
}

type (
	outcomeFields Outcome
	outcomeJSON   struct {
		outcomeFields
		Error jsonerror.Text `json:"error,omitzero"`
	}
)
