package event

// TextDelta is a piece of the answer.
type TextDelta struct {
	Text  string `json:"text"`
	Agent string `json:"agent,omitempty"`
	// Given marks the beginning of the answer, if the client gave it for the model to
	// continue. It is not sent back to that client.
	Given bool `json:"given,omitempty"`
}

// Added returns the text that the model added: none for what the client gave.
func (d TextDelta) Added() string {
	if d.Given {
		return ""
	}
	return d.Text
}
