package script

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// kindRow is one kind of error: its name in a script, and what the error says
// where the script gives no message.
type kindRow struct {
	kind    provider.Kind
	name    string
	message string
}

// kinds is the table of them, in the order of provider.Kind.
func kinds() []kindRow {
	return []kindRow{
		{provider.Broken, "broken", "the connection broke"},
		{provider.RateLimited, "rate_limited", "too many requests"},
		{provider.Overloaded, "overloaded", "the provider is overloaded"},
		{provider.SlowStart, "slow_start", "nothing came in time"},
		{provider.Unreachable, "unreachable", "nobody answers there"},
		{provider.Unauthorised, "unauthorised", "the key is refused"},
		{provider.UnknownModel, "unknown_model", "there is no such model"},
		{provider.ContextFull, "context_full", "the request doesn't fit the model's context"},
		{provider.Unsupported, "unsupported", "the model can't do that"},
		{provider.Rejected, "rejected", "the request is refused"},
		{provider.Undecodable, "undecodable", "the response can't be read"},
	}
}

// kindNamed finds a kind by its name.
func kindNamed(name string) (kindRow, bool) {
	for _, row := range kinds() {
		if row.name == name {
			return row, true
		}
	}
	return kindRow{}, false
}

// kindOf finds the row of a kind. One that is not in the table counts as
// broken, which is all that is sure about it.
func kindOf(kind provider.Kind) kindRow {
	rows := kinds()
	for _, row := range rows {
		if row.kind == kind {
			return row
		}
	}
	return rows[0]
}

// kindNames lists the names, for messages.
func kindNames() []string {
	var names []string
	for _, row := range kinds() {
		names = append(names, row.name)
	}
	return names
}

// features are what a request can use and a model may lack.
func features() []string {
	return []string{
		string(provider.FeatureTools), string(provider.FeatureImages),
		string(provider.FeatureThinking), string(provider.FeatureSchema),
	}
}

// stopReasons are the ones of a whole response.
func stopReasons() []string {
	return []string{
		provider.StopEnd, provider.StopToolUse, provider.StopLength,
		provider.StopRefusal, provider.StopOther,
	}
}

// oneOf lists words for a message: "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
