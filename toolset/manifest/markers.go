package manifest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// KnownPayloads are the types of payloads that fettle knows without any
// toolset: those of documents 000 and 001. A page may offer them, and a toolset
// may define them anew for itself.
func KnownPayloads() []string {
	return []string{
		"draft", "summary", "data", "code", "agent_create", "agent_update", "table", "research", "research_result",
		"workflow_graph", "review_collection", "review_analysis", "entity_verification",
		"pubmed_article", "pubmed_search_results", "schema_proposal", "validation_results", "presentation_categories",
		"stream_template", "stream_suggestions", "portfolio_insights", "quick_setup",
		"suggested_values", "suggested_actions",
	}
}

// ownPayloads are types that have a meaning in the answer itself, so that no
// toolset may give them another.
func ownPayloads() []string { return []string{"tool_history", "suggested_values", "suggested_actions"} }

func checkPayloadType(s string) *complaint {
	if slices.Contains(ownPayloads(), s) {
		return complain(CodeReservedID, "the payload type "+show(s)+" is fettle's own; a page may list it, and a toolset can't define it")
	}
	return nil
}

// minMarker is the length below which a marker turns up in prose; maxName is
// the greatest.
const minMarker = 3

// checkMarker refuses what would be found where nobody wrote a marker: within
// JSON, where code begins, or in ordinary prose. It is the rule of what looks
// for markers, said where an author reads it.
func checkMarker(s string) *complaint {
	switch {
	case len(s) < minMarker || len(s) > maxName:
		return complain(CodeMarker, fmt.Sprintf("a marker has %d to %d bytes; %s has %d", minMarker, maxName, show(s), len(s)))
	case !utf8.ValidString(s), strings.IndexFunc(s, unicode.IsControl) >= 0, strings.TrimSpace(s) != s:
		return complain(CodeMarker, "a marker stands on one line, without control characters and spaces around it")
	case strings.ContainsAny(s, "{}[]\"\\`*~"):
		return complain(CodeMarker, "a marker holds none of { } [ ] \" \\ ` * ~, with which JSON and code begin; found "+show(s))
	case strings.IndexFunc(s, unicode.IsLetter) < 0:
		return complain(CodeMarker, "a marker holds a letter; found "+show(s))
	}
	return nil
}
