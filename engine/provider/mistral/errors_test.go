package mistral

// refusals are bodies of refused requests, in the forms that were met.
var refusals = map[string]struct {
	status int
	body   string
}{}
