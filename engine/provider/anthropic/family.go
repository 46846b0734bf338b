package anthropic

import (
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// thinking is how a model is asked to think, and not to.
type thinking int

const (
	// thinkUnknown is a model of somebody else's: asked as servers that are
	// compatible with this API take it, and told nothing unasked.
	thinkUnknown thinking = iota
	thinkNever            // it can't
	thinkBudget           // by "enabled" with a budget; off unless asked for
	thinkAsked            // by "adaptive"; off unless asked for
	thinkDefault          // by "adaptive"; on unless "disabled"
	thinkBetween          // by "adaptive"; on unless "between_tools"
	thinkAlways           // by "adaptive"; can't be switched off
)

// family is what is known of the models of one tier from one version on.
type family struct {
	tier    string
	version int // major times 100 plus minor
	context int // tokens
	output  int // the most that max_tokens may be
	// tokens is max_tokens where the request doesn't say: as much as leaves
	// room for thinking, and for older models little enough that a long
	// question still fits beside it, since they add the two up.
	tokens int
	think  thinking
	takes  parameters
	images provider.Known
}

// parameters are some that a model takes or refuses.
type parameters int

const (
	native parameters = 1 << iota // output_config.format, which holds an answer to a schema
	forced                        // tool_choice that names the tool to call
	warm                          // temperature
)

const (
	million  = 1_000_000
	twoHundK = 200_000
	// unknownTokens is max_tokens for a model that nothing is known of: what
	// most of them allow. A server that allows less says so, and is heard.
	unknownTokens = 16_384
)

// families lists what Anthropic documents of its models, the latest version of
// each tier first. A version between two of a tier is like the earlier one.
// Sources: the models overview, "Thinking support, defaults, and rejected
// configurations by model", "Structured outputs" and the migration guides.
func families() []family {
	yes := provider.Yes
	return []family{
		{"fable", 501, million, 128_000, 64_000, thinkAlways, native, yes},
		{"fable", 500, million, 128_000, 64_000, thinkAlways, native | forced, yes},
		{"mythos", 501, million, 128_000, 64_000, thinkAlways, native, yes},
		{"mythos", 500, million, 128_000, 64_000, thinkAlways, native | forced, yes},
		{"opus", 505, million, 128_000, 64_000, thinkAlways, native, yes},
		{"opus", 500, million, 128_000, 64_000, thinkDefault, native | forced, yes},
		{"opus", 407, million, 128_000, 64_000, thinkAsked, native | forced, yes},
		{"opus", 406, million, 128_000, 64_000, thinkAsked, native | forced | warm, yes},
		{"opus", 405, twoHundK, 64_000, 32_000, thinkBudget, native | forced | warm, yes},
		{"opus", 400, twoHundK, 32_000, 16_000, thinkBudget, forced | warm, yes},
		{"opus", 300, twoHundK, 4096, 4096, thinkNever, forced | warm, yes},
		{"sonnet", 505, million, 128_000, 64_000, thinkBetween, native, yes},
		{"sonnet", 500, million, 128_000, 64_000, thinkDefault, native | forced, yes},
		{"sonnet", 406, million, 64_000, 64_000, thinkAsked, native | forced | warm, yes},
		{"sonnet", 405, twoHundK, 64_000, 32_000, thinkBudget, native | forced | warm, yes},
		{"sonnet", 400, twoHundK, 64_000, 16_000, thinkBudget, forced | warm, yes},
		{"sonnet", 307, twoHundK, 64_000, 16_000, thinkBudget, forced | warm, yes},
		{"sonnet", 305, twoHundK, 8192, 8192, thinkNever, forced | warm, yes},
		{"sonnet", 300, twoHundK, 4096, 4096, thinkNever, forced | warm, yes},
		{"haiku", 505, million, 128_000, 64_000, thinkDefault, native | forced, yes},
		{"haiku", 405, twoHundK, 64_000, 32_000, thinkBudget, native | forced | warm, yes},
		{"haiku", 305, twoHundK, 8192, 8192, thinkNever, forced | warm, provider.Unknown},
		{"haiku", 300, twoHundK, 4096, 4096, thinkNever, forced | warm, yes},
	}
}

// familyOf gives what is known of a model, by its name. A later version than
// any in the table is taken to behave like the latest one, and so is a tier
// that isn't in it; nothing is claimed of what they can do. What isn't one of
// Anthropic's models, as on an address that only speaks their API, is asked
// the way most of those take it.
func familyOf(model string) (f family, known bool) {
	tier, version, ok := parseName(model)
	if !ok {
		return family{tokens: unknownTokens, think: thinkUnknown, takes: forced | warm}, false
	}
	like := family{tokens: 64_000, think: thinkDefault, takes: native}
	for _, f := range families() {
		if f.tier != tier {
			continue
		}
		first := like.tier == ""
		switch {
		case version == f.version, version > f.version && !first:
			return f, true
		case version > f.version, version == noVersion:
			return f.unclaimed(), false
		}
		like = f // which is later than the model
	}
	return like.unclaimed(), false
}

// noVersion is a name that says none, such as an alias for the latest one.
const noVersion = 0

// unclaimed is the family without what isn't known of a model that is only
// taken to be like it.
func (f family) unclaimed() family {
	f.context, f.output, f.images = 0, 0, provider.Unknown
	return f
}

// parseName finds tier and version in a name, as Anthropic and those who pass
// its models on write them: claude-opus-4-1-20250805, claude-3-7-sonnet-latest,
// us.anthropic.claude-sonnet-4-5-20250929-v1:0, anthropic/claude-opus-4.5,
// claude-opus-4-1@20250805.
func parseName(model string) (tier string, version int, ok bool) {
	_, name, ok := strings.Cut(strings.ToLower(model), "claude-")
	if !ok {
		return "", 0, false
	}
	var numbers []int
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("-.@:_/", r) }) {
		n, err := strconv.Atoi(word)
		switch {
		case err == nil && len(word) <= 2 && len(numbers) < 2:
			numbers = append(numbers, n)
		case err == nil: // a date
			if tier != "" {
				return tier, versionOf(numbers), true
			}
		case tier == "":
			tier = word
		default: // "latest", "v1" and the like
			return tier, versionOf(numbers), true
		}
	}
	return tier, versionOf(numbers), tier != ""
}

func versionOf(numbers []int) int {
	switch len(numbers) {
	case 0:
		return 0
	case 1:
		return numbers[0] * 100
	}
	return numbers[0]*100 + numbers[1]
}

// describe is what the table says of a model.
func describe(prov, name string) provider.Model {
	m := provider.Model{Provider: prov, Name: name}
	f, known := familyOf(name)
	if !known {
		return m
	}
	m.ContextLength, m.Images = f.context, f.images
	m.Tools, m.Schema = provider.Yes, provider.Yes // the latter natively or by a forced call
	m.Thinking = provider.Yes
	if f.think == thinkNever {
		m.Thinking = provider.No
	}
	return m
}
