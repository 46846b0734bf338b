package wire

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/engine/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestClean(t *testing.T) {
	t.Parallel()
	const key = "q7Zx-0123456789-secret"
	for name, c := range map[string][2]string{
		"plain":              {"model not found", "model not found"},
		"lines":              {"one\r\n  two\tthree\u2028four\u0085five", "one two three four five"},
		"escapes":            {"a\x1b[31mb\x07\u009bc", "a [31mb c"},
		"direction":          {"a\u202eb\u2066c\u200bd", "abcd"},
		"emoji stay":         {"👩‍💻 works", "👩‍💻 works"},
		"the key":            {"key " + key + " is wrong", "key [key] is wrong"},
		"inside a word":      {`{"key":"` + key + `"}`, `{"key":"[key]"}`},
		"part of the key":    {"key q7Zx-012*****cret is wrong", "key [key] is wrong"},
		"its end":            {"key *****9-secret", "key [key]"},
		"somebody's":         {"Incorrect API key provided: sk-proj-abc***xyz.", "Incorrect API key provided: [key]"},
		"bearer":             {"Authorization: Bearer abcdefghij", "Authorization: Bearer [key]"},
		"short words stay":   {"sk-1 is a bearer token", "sk-1 is a bearer token"},
		"invalid UTF-8":      {"a\xffb", "a\uFFFDb"},
		"not much like keys": {"skate-board requests-per-minute", "skate-board requests-per-minute"},
	} {
		if got := Clean(c[0], key); got != c[1] {
			t.Errorf("%s: %q, want %q", name, got, c[1])
		}
	}
	long := Clean(strings.Repeat("é", 1000))
	if len(long) > maxMessage || !strings.HasSuffix(long, "é…") || !utf8.ValidString(long) {
		t.Errorf("a long message ends in %q after %d bytes", long[len(long)-8:], len(long))
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31m sk-0123456789", "0123456789")
	f.Fuzz(func(t *testing.T, s, key string) {
		got := Clean(s, key)
		if len(got) > maxMessage || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\x00\u202e") {
			t.Fatalf("%q became %q", s, got)
		}
		if len(key) >= minSecret && !strings.Contains(hidden, key) && strings.Contains(got, key) && utf8.ValidString(key) {
			t.Fatalf("%q still holds %q: %q", s, key, got)
		}
	})
}

func TestProblems(t *testing.T) {
	t.Parallel()
	all := []provider.Feature{provider.FeatureSchema, provider.FeatureTools, provider.FeatureImages, provider.FeatureThinking}
	for name, c := range map[string]struct {
		status  int
		body    string
		kind    provider.Kind
		feature provider.Feature
		message string
	}{
		"OpenAI context":        {400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, provider.ContextFull, "", "This model's maximum context length is 8192 tokens."},
		"vLLM context":          {400, `{"object":"error","message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192.","type":"BadRequestError","code":400}`, provider.ContextFull, "", "The decoder prompt (length 9000) is longer than the maximum model length of 8192."},
		"vLLM max_tokens":       {400, `{"object":"error","message":"max_tokens must be at least 1, got -186.","type":"BadRequestError","code":400}`, provider.ContextFull, "", "max_tokens must be at least 1, got -186."},
		"llama.cpp context":     {400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, provider.ContextFull, "", "the request exceeds the available context size, try increasing it"},
		"llama-cpp-python":      {400, `{"error":{"message":"Requested tokens (516) exceed context window of 512"}}`, provider.ContextFull, "", "Requested tokens (516) exceed context window of 512"},
		"LM Studio context":     {400, `{"error":"Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`, provider.ContextFull, "", "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"},
		"LM Studio n_keep":      {400, `{"error":"Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}`, provider.ContextFull, "", "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"},
		"Ollama context":        {400, `{"error":"the input length exceeds the context length"}`, provider.ContextFull, "", "the input length exceeds the context length"},
		"a proxy's 413":         {413, `<html><head><title>413 Request Entity Too Large</title></head></html>`, provider.Rejected, "", "a web page: 413 Request Entity Too Large"},
		"wrong key":             {401, `{"error":{"message":"Incorrect API key provided: sk-aaaaaaaaaa.","code":"invalid_api_key"}}`, provider.Unauthorised, "", "Incorrect API key provided: [key]"},
		"an empty 413":          {413, ``, provider.ContextFull, "", "Request Entity Too Large"},
		"forbidden":             {403, ``, provider.Rejected, "", "Forbidden"},
		"a forbidden key":       {403, `{"error":{"message":"Your API key does not have permission to use this resource"}}`, provider.Unauthorised, "", "Your API key does not have permission to use this resource"},
		"an expired token":      {403, `{"error":"token is expired"}`, provider.Unauthorised, "", "token is expired"},
		"moderation":            {403, `{"error":{"code":403,"message":"Your input was flagged for \"violence\".","metadata":{"reasons":["violence"],"flagged_input":"x"}}}`, provider.Rejected, "", `Your input was flagged for "violence".`},
		"a country":             {403, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}`, provider.Rejected, "", "Country, region, or territory not supported"},
		"a firewall":            {403, `<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>`, provider.Rejected, "", "a web page: Attention Required! | Cloudflare"},
		"a model of others":     {403, `{"error":{"message":"Project x does not have access to model y","code":"model_not_found"}}`, provider.UnknownModel, "", "Project x does not have access to model y"},
		"a list of errors":      {400, `{"success":false,"errors":[{"code":7003,"message":"No route for that URI"}],"result":null}`, provider.Rejected, "", "No route for that URI"},
		"an error in detail":    {400, `{"detail":{"error":"the quota of calls is used","limit":10}}`, provider.Rejected, "", "the quota of calls is used"},
		"an error in errors":    {400, `{"errors":{"model":["must be a string"]}}`, provider.Rejected, "", `{"errors":{"model":["must be a string"]}}`},
		"texts in a list":       {400, `{"errors":["first","second"]}`, provider.Rejected, "", "first"},
		"JSON in a message":     {400, `{"error":{"message":"{\"error\":{\"message\":\"inside\"}}"}}`, provider.Rejected, "", "inside"},
		"capitals":              {400, `{"Message":"not like this","Code":3}`, provider.Rejected, "", "not like this"},
		"an unknown shape":      {400, `{"ok": false, "why": {"nr": 3}}`, provider.Rejected, "", `{"ok":false,"why":{"nr":3}}`},
		"a number":              {400, `42`, provider.Rejected, "", "42"},
		"compressed":            {400, "\x1f\x8b\x08\x00", provider.Rejected, "", "its text is compressed (gzip)"},
		"no such model":         {404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`, provider.UnknownModel, "", "The model does not exist"},
		"Ollama model":          {404, `{"error":"model 'x' not found"}`, provider.UnknownModel, "", "model 'x' not found"},
		"OpenRouter model":      {400, `{"error":{"message":"x/y is not a valid model ID","code":400}}`, provider.UnknownModel, "", "x/y is not a valid model ID"},
		"no such path":          {404, `404 page not found`, provider.Rejected, "", "404 page not found"},
		"rate limit":            {429, `{"error":{"message":"Rate limit reached"}}`, provider.RateLimited, "", "Rate limit reached"},
		"out of money":          {429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, provider.Rejected, "", "You exceeded your current quota"},
		"timeout":               {408, ``, provider.Overloaded, "", "Request Timeout"},
		"conflict":              {409, ``, provider.Overloaded, "", "Conflict"},
		"500":                   {500, `{"detail":"Internal Server Error"}`, provider.Overloaded, "", "Internal Server Error"},
		"529":                   {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Overloaded, "", "Overloaded"},
		"501":                   {501, `{"error":"not here"}`, provider.Rejected, "", "not here"},
		"FastAPI":               {422, `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error.missing"}]}`, provider.Rejected, "", "field required"},
		"a list of one":         {400, `[{"error":{"code":400,"message":"Invalid JSON payload","status":"INVALID_ARGUMENT"}}]`, provider.Rejected, "", "Invalid JSON payload"},
		"a bare string":         {400, `"no"`, provider.Rejected, "", "no"},
		"nothing":               {400, ``, provider.Rejected, "", "Bad Request"},
		"Ollama tools":          {400, `{"error":"registry.ollama.ai/library/x does not support tools"}`, provider.Unsupported, provider.FeatureTools, "registry.ollama.ai/library/x does not support tools"},
		"OpenRouter tools":      {404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, provider.Unsupported, provider.FeatureTools, "No endpoints found that support tool use."},
		"vLLM tools":            {400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}`, provider.Unsupported, provider.FeatureTools, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`},
		"llama.cpp tools":       {500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, provider.Unsupported, provider.FeatureTools, "tools param requires --jinja flag"},
		"OpenRouter images":     {404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, provider.Unsupported, provider.FeatureImages, "No endpoints found that support image input"},
		"vLLM images":           {400, `{"message":"x is not a multimodal model"}`, provider.Unsupported, provider.FeatureImages, "x is not a multimodal model"},
		"llama.cpp images":      {500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"}}`, provider.Unsupported, provider.FeatureImages, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"},
		"DeepSeek images":       {400, "{\"error\":{\"message\":\"Failed to deserialize: unknown variant `image_url`, expected `text`\"}}", provider.Unsupported, provider.FeatureImages, "Failed to deserialize: unknown variant `image_url`, expected `text`"},
		"Ollama thinking":       {400, `{"error":"\"tiny\" does not support thinking"}`, provider.Unsupported, provider.FeatureThinking, `"tiny" does not support thinking`},
		"OpenAI effort":         {400, `{"error":{"message":"Unsupported parameter: 'reasoning_effort' is not supported with this model.","param":"reasoning_effort"}}`, provider.Unsupported, provider.FeatureThinking, "Unsupported parameter: 'reasoning_effort' is not supported with this model."},
		"DeepSeek schema":       {400, `{"error":{"message":"This response_format type is unavailable now"}}`, provider.Unsupported, provider.FeatureSchema, "This response_format type is unavailable now"},
		"not about a feature":   {503, `{"error":{"message":"image model is unavailable"}}`, provider.Overloaded, "", "image model is unavailable"},
		"OpenRouter's provider": {502, `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"{\"detail\":\"boom\"}"}}}`, provider.Overloaded, "", "Provider returned error: boom"},
	} {
		s := Source{Provider: "p", Model: "m", Address: "http://x", Asked: all}
		e := s.Refused(&http.Response{StatusCode: c.status, Header: http.Header{}}, []byte(c.body))
		if e.Kind != c.kind || e.Feature != c.feature || e.Message != c.message || e.Status != c.status {
			t.Errorf("%s: %+v", name, *e)
		}
		s.Asked = nil
		if e := s.Refused(&http.Response{StatusCode: c.status, Header: http.Header{}}, []byte(c.body)); e.Kind == provider.Unsupported {
			t.Errorf("%s: a feature is missed that nobody asked for: %+v", name, *e)
		}
	}
}

func FuzzReadProblem(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"m","metadata":{"raw":"{\"error\":\"x\"}"}}}`), 400)
	f.Add([]byte(`[{"detail":[{"msg":"x"}]}]`), 500)
	f.Add([]byte(`{"":1}`), 400)
	f.Add([]byte(`{"error":{"":{"":"x"}}}`), 400)
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		e := Source{Provider: "p"}.Refused(&http.Response{StatusCode: status, Header: http.Header{}}, body)
		if e.Kind == 0 || len(e.Message) > maxMessage {
			t.Fatalf("%q became %+v", body, e)
		}
	})
}

// An address may hold a key in its query; the cause of a failure is told
// without it.
func TestBrokenRequestsDoNotTellTheirAddress(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{io.ErrUnexpectedEOF, errors.New("net/http: malformed HTTP response"), errors.New("reset"), &proxyError{"p:1", "407"}} {
		e := Source{Provider: "p"}.Broken(&url.Error{Op: "Post", URL: "https://h/v1?key=hunter22hunter22", Err: cause})
		if strings.Contains(e.Error()+e.Message, "hunter22") || !errors.Is(e, cause) && e.Kind != provider.Broken {
			t.Errorf("%v became %+v", cause, e)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	get := func(status int, headers map[string]string) time.Duration {
		h := http.Header{}
		for k, v := range headers {
			h.Set(k, v)
		}
		return RetryAfter(&http.Response{StatusCode: status, Header: h}, now)
	}
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "1.5": 1500 * time.Millisecond, "0": 0, "-3": 0, "soon": 0, "NaN": 0,
		"1e300": maxAsked, "Inf": maxAsked, "-1e300": 0,
		"Fri, 27 Nov 2026 12:00:30 GMT": 30 * time.Second, "Fri, 27 Nov 2026 11:00:00 GMT": 0,
		"Friday, 27-Nov-26 12:01:00 GMT": time.Minute, "2026-11-27T12:00:20Z": 20 * time.Second,
		"1795780830": 30 * time.Second, "1795780830000": 30 * time.Second, "6m0s": 6 * time.Minute, "20ms": 20 * time.Millisecond,
	} {
		for _, status := range []int{429, 503} {
			if got := get(status, map[string]string{"Retry-After": value}); got != want {
				t.Errorf("%q: %v, want %v", value, got, want)
			}
		}
	}
	for name, c := range map[string]struct {
		status  int
		headers map[string]string
		want    time.Duration
	}{
		"milliseconds win":       {429, map[string]string{"Retry-After-Ms": "250", "Retry-After": "9"}, 250 * time.Millisecond},
		"no milliseconds":        {429, map[string]string{"Retry-After-Ms": "soon", "Retry-After": "9"}, 9 * time.Second},
		"milliseconds for ever":  {429, map[string]string{"Retry-After-Ms": "1e300"}, maxAsked},
		"OpenAI's reset":         {429, map[string]string{"X-Ratelimit-Reset-Requests": "12ms", "X-Ratelimit-Remaining-Requests": "99", "X-Ratelimit-Reset-Tokens": "6m0s", "X-Ratelimit-Remaining-Tokens": "0"}, 6 * time.Minute},
		"the first":              {429, map[string]string{"X-Ratelimit-Reset-Requests": "1s", "X-Ratelimit-Reset-Tokens": "6m0s"}, time.Second},
		"OpenRouter's":           {429, map[string]string{"X-Ratelimit-Reset": "1795780830000", "X-Ratelimit-Remaining": "0"}, 30 * time.Second},
		"Azure's nothing":        {429, map[string]string{"X-Ratelimit-Reset-Tokens": "0", "X-Ratelimit-Remaining-Tokens": "-1"}, 0},
		"a limit that has room":  {503, map[string]string{"X-Ratelimit-Reset-Tokens": "6m0s"}, 0},
		"a wish and a reset":     {429, map[string]string{"Retry-After": "3", "X-Ratelimit-Reset-Tokens": "6m0s"}, 3 * time.Second},
		"a wish that is nothing": {429, map[string]string{"Retry-After": "0", "X-Ratelimit-Reset-Tokens": "6s"}, 6 * time.Second},
	} {
		if got := get(c.status, c.headers); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestArgs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "{}", "null": "{}", `""`: "{}", " \n": "{}", `"null"`: "{}", "{}": "{}", "{ }": "{}",
		`{"a": 1}`: `{"a":1}`, `"{\"a\":1}"`: `{"a":1}`, `{}{"a":1}`: `{"a":1}`, `{"a":1}{}`: `{"a":1}`, "{}{}": "{}",
		`{"a":{"b":[1,2]}}`: `{"a":{"b":[1,2]}}`,
	} {
		if got, ok := Args([]byte(in)); !ok || string(got) != want {
			t.Errorf("%s became %s, %v", in, got, ok)
		}
	}
	for in, want := range map[string]string{
		`{"a":`: `"{\"a\":"`, `[1]`: `"[1]"`, `7`: `"7"`, `{"a":1}{"b":2}`: `"{\"a\":1}{\"b\":2}"`, `{"a":1}}`: `"{\"a\":1}}"`,
		`"go"`: `"go"`, `{"a":1} and more`: `"{\"a\":1} and more"`,
	} {
		if got, ok := Args([]byte(in)); ok || string(got) != want {
			t.Errorf("%s became %s, %v", in, got, ok)
		}
	}
}

func FuzzArgs(f *testing.F) {
	f.Add([]byte(`{}{"a":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := Args(raw)
		if !json.Valid(got) || ok != (got[0] == '{') {
			t.Fatalf("%q became %q, %v", raw, got, ok)
		}
	})
}

func TestThinkingInPieces(t *testing.T) {
	t.Parallel()
	for whole, want := range map[string][2]string{
		"<think>\nhm\n</think>\n\nHi <think>x</think>": {"hm\n", "Hi <think>x</think>"},
		"<thinking>a</think></thinking>b":              {"a</think>", "b"},
		"  \n<think>a</think>b":                        {"a", "b"},
		"<think></think>b":                             {"", "b"},
		"<think>never closed </thin":                   {"never closed </thin", ""},
		"<thought>a":                                   {"", "<thought>a"},
		"<":                                            {"", "<"},
		"a <think>b":                                   {"", "a <think>b"},
		"  plain":                                      {"", "  plain"},
	} {
		for size := 1; size <= len(whole); size++ {
			var th Thinking
			var got []provider.Delta
			for rest := whole; rest != ""; {
				n := min(size, len(rest))
				got, rest = th.Add(got, rest[:n]), rest[n:]
			}
			got = th.End(got)
			var reasoning, content string
			for _, d := range got {
				if d.Kind == provider.Reasoning {
					reasoning += d.Text
				} else {
					content += d.Text
				}
			}
			if reasoning != want[0] || content != want[1] {
				t.Errorf("%q in pieces of %d: thought %q, said %q", whole, size, reasoning, content)
			}
		}
	}
}
