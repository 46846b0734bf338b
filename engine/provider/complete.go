package provider

// Completer is a Provider whose Stream takes a [Request] with a [Completion].
type Completer interface {
	Provider
	// Completes does nothing; it marks the ability.
	Completes()
}

// Completion is a text to continue, without a conversation: the API of autocompletion in
// editors. The deltas of the response are of the kinds content, reasoning, footnote and
// meta.
type Completion struct {
	Prompt string // what comes before
	// Suffix is what comes after. A provider refuses it for a model that can't fill in
	// between.
	Suffix string
	// System, Raw and Images are for Ollama, whose template is applied unless Raw is set.
	System string
	Raw    bool
	Images [][]byte
}
