package wire

import (
	"regexp"
	"strings"
	"sync"
)

// overflow is how a server says that a request doesn't fit the model's context:
// by a code or a phrase that means nothing else, or by what is too long, in
// what unit, and that it is too much.
type overflow struct {
	sure           *regexp.Regexp
	what, how, too *regexp.Regexp
	// answer are the names of the limit on the answer, which is a setting of the
	// request, rate the words of limits on what may be used, and field the name
	// of a field that a conversation is not.
	answer, rate, field *regexp.Regexp
}

var overflows = sync.OnceValue(func() overflow {
	return overflow{
		sure: regexp.MustCompile(`context_length_exceeded|exceed_context_size|max_model_len|context_window_exceeded|` +
			`model_max_prompt_tokens_exceeded|` +
			`max_tokens must be at least 1|` + // vLLM, where the prompt leaves no token for the answer
			`trying to keep the first|cannot truncate prompt with n_keep|` + // LM Studio
			`no user query found|` + // Ollama 0.12 and older, after it cut the question away
			`range of input length should be|` + // Qwen
			`(prompt|input|inputs|conversation|request|messages|context|history)( is| are| was)? (far |much )?too (long|large)\b.*(token|model|context|length)|` +
			`(prompt|input|inputs|conversation|messages|context|history)( is| are| was)? (far |much )?too long|` +
			`reduce the length of (the|your) (messages|prompt|input)|(上下文|输入|提示|token|tokens|prompt).*(超过|超出|超长)|(超过|超出|超长).*(上下文|长度|token)`),
		what: regexp.MustCompile(`\b(context|(num_)?(prompt|input)_tokens|prompts?|inputs?|messages?|conversation|chat history|history|sequence|requests?|requested)\b`),
		how:  regexp.MustCompile(`\b((num_)?(prompt|input)_)?tokens?\b|\bcontext[ _](length|size|window|limit)\b|\blength\b|\bwindow\b`),
		too: regexp.MustCompile(`exceed|\b(longer|greater|larger|bigger|more|higher) than\b|\btoo (long|large|many|big|much)\b|\bover the\b|` +
			`\bmust (have|be) (less|fewer|smaller|shorter|at most|<|&lt;)|\bless than\b|\bcannot be (longer|more|larger)|\bshould be (\[|less|at most|within|<)|` +
			`\bat most\b|\bmaximum\b|\bonly\b|\b(reduce|shorten|truncate)\b|\boverflow|\b(does not|doesn't|do not|cannot|can't|not) fit\b|\bran out of\b|\bis full\b|\bbeyond\b|\bsurpass|` +
			`[\d,]{3,} ?(>|&gt;) ?[\d,]{3,}`),
		answer: regexp.MustCompile("`?\\bmax_(completion_|output_|new_)?tokens\\b`?|\\b(output|completion) tokens\\b"),
		field:  regexp.MustCompile(`['"][^'"]*\b(id|name|description|call_id|tool_call_id|tools|metadata|stop|schema)['"\]]`),
		rate:   regexp.MustCompile(`\bper[ -](minute|min|second|hour|day|month)\b|\b(tpm|rpm|tpd|rpd)\b|rate[ _-]?limit|\bquota\b|\bcredits?\b|\bbalance\b`),
	}
})

// contextFull reports whether an error text, in lower case, says that the
// request doesn't fit the model's context. A status that has another meaning is
// believed unless the text leaves no doubt.
func contextFull(status int, text string) bool {
	o := overflows()
	if o.rate.MatchString(text) {
		return strings.Contains(text, "request too large")
	}
	if o.sure.MatchString(text) {
		return true
	}
	switch {
	case status == 0, status == 400, status == 413, status == 422, status == 500:
	default:
		return false
	}
	if o.field.MatchString(text) && !strings.Contains(text, "context") {
		return false
	}
	text = o.answer.ReplaceAllString(text, "")
	return o.what.MatchString(text) && o.how.MatchString(text) && o.too.MatchString(text)
}

// vaguePhrases are messages that give no reason.
var vaguePhrases = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(bad request|invalid request( error)?|request contains an invalid argument|invalid (argument|input|parameter)s?|` +
		`internal server error|internal error|server error|api error|unprocessable (entity|content)|(request entity|payload|content) too large|` +
		`unknown error|an? (unexpected |unknown )?error (has )?occurred|something went wrong|(provider|upstream) returned( an)? error|upstream error|` +
		`request failed|failed|error|the server had an error while processing your request|please try again( later)?|none|null|forbidden|http|status|code)\b`)
})

// vague reports whether the problem gives no usable reason.
func (p problem) vague() bool {
	if p.shapeless || p.page {
		return true
	}
	words := strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(p.message))
	return !strings.ContainsFunc(vaguePhrases().ReplaceAllString(words, ""), func(r rune) bool { return r >= 'a' && r <= 'z' || r > 0x7f })
}
