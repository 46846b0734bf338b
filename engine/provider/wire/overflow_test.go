package wire

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// tooLong are refusals of requests that are too long, as servers word them.
func tooLong() map[string]string {
	return map[string]string{
		"OpenAI":            `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`,
		"OpenAI Responses":  `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}}`,
		"Anthropic":         `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
		"Anthropic both":    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000\"}}",
		"Gemini":            `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`,
		"DeepSeek":          `{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens","type":"invalid_request_error"}}`,
		"Kimi":              `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144","type":"invalid_request_error"}}`,
		"GLM":               `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`,
		"GLM in Chinese":    `{"error":{"code":"1261","message":"输入的 tokens 超过模型最大长度"}}`,
		"Qwen":              `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]","code":"invalid_parameter_error"}}`,
		"xAI":               `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 150000 tokens."}`,
		"Groq":              `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded","param":"messages"}}`,
		"OpenRouter":        `{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens","code":400}}`,
		"OpenRouter's kind": `{"error":{"message":"Provider returned error","code":400,"metadata":{"error_type":"context_length_exceeded"}}}`,
		"vLLM":              `{"object":"error","message":"You passed 9000 input tokens and requested 100 output tokens. However, the model's context length is only 8192 tokens","code":400}`,
		"SGLang":            `{"object":"error","message":"The input (263000 tokens) is longer than the model's context length (262144 tokens).","type":"BadRequestError","code":400}`,
		"SGLang requested":  `{"object":"error","message":"Requested token count exceeds the model's maximum context length of 4096 tokens.","code":400}`,
		"llama.cpp":         `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error"}}`,
		"LM Studio":         `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}`,
		"TGI inputs":        "{\"error\":\"Input validation error: `inputs` must have less than 1024 tokens. Given: 1500\",\"error_type\":\"validation\"}",
		"TGI total":         "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1500 `inputs` tokens and 1000 `max_new_tokens`\"}",
		"Mistral":           `{"object":"error","message":"Prompt contains 213462 tokens and 0 draft tokens, too large for model with 131072 maximum context length","code":"3051"}`,
		"Copilot":           `{"error":{"message":"prompt token count of 130000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`,
		"Cohere":            `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000"}`,
		"Bedrock":           `{"message":"Input is too long for requested model."}`,
		"Fireworks":         `{"error":{"message":"The prompt is too long: 140000, model maximum context length: 131071"}}`,
		"Cerebras":          `{"message":"Please reduce the length of the messages or completion. Current length is 10000 while limit is 8192","code":"context_length_exceeded"}`,
		"MiniMax":           `{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}`,
		"words of its own":  `{"detail":"conversation history is larger than the model's window"}`,
		"plain text":        "the prompt does not fit into the context size of 4096",
	}
}

func TestTooLongRequestsAreKnownByMeaning(t *testing.T) {
	t.Parallel()
	s := Source{Provider: "p", Asked: []provider.Feature{provider.FeatureTools, provider.FeatureThinking}}
	for name, body := range tooLong() {
		for _, status := range []int{400, 413, 422, 500} {
			e := s.Refused(&http.Response{StatusCode: status, Header: http.Header{}}, []byte(body))
			if e.Kind != provider.ContextFull || e.NoReason {
				t.Errorf("%s with status %d: %+v", name, status, *e)
			}
		}
		if e := s.InStream([]byte(body)); e.Kind != provider.ContextFull {
			t.Errorf("%s in a stream: %+v", name, *e)
		}
		if e := s.InBody([]byte(body)); e.Kind != provider.ContextFull {
			t.Errorf("%s as a body with status 200: %+v", name, *e)
		}
	}
}

func TestOtherLimitsAreNoOverflow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		text   string
	}{
		"the answer's limit":       {400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"},
		"Anthropic's limit":        {400, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude"},
		"Groq's limit":             {400, "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model"},
		"a rate of tokens":         {429, "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000"},
		"too many tools":           {400, "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead."},
		"a long id":                {400, "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 50 instead."},
		"a long description":       {400, "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024"},
		"a large image":            {400, "messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"},
		"credits":                  {402, "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 2000"},
		"a temperature":            {400, "Invalid input: temperature must be at most 2"},
		"a broken JSON":            {400, "Could not parse the JSON body of your request: unexpected token at position 3"},
		"a system message's place": {400, "only one system message is allowed in a conversation"},
	} {
		s := Source{Provider: "p"}
		e := s.Said(c.status, c.text)
		if e.Kind == provider.ContextFull {
			t.Errorf("%s is taken for a request that is too long", name)
		}
	}
}

// A refusal without a reason is marked, so that the caller can try something else.
func TestRefusalsWithoutAReason(t *testing.T) {
	t.Parallel()
	s := Source{Provider: "p"}
	for body, want := range map[string]bool{
		"":                                   true,
		"Bad Request":                        true,
		`{"error":"Bad Request"}`:            true,
		`{"error":{"message":"Error"}}`:      true,
		`{"detail":"Internal Server Error"}`: true,
		`{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"ERROR"}}}`:     true,
		`{"error":{"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}`: true,
		`{"ok":false}`:                                      true,
		"<html><body>no</body></html>":                      true,
		`{"error":{"message":"400 status code (no body)"}}`: false, // words all the same
		`{"error":"model is not loaded"}`:                   false,
		`{"error":"消息无效"}`:                                  false,
		strings.Repeat("x", 40):                             false,
	} {
		if e := s.Refused(&http.Response{StatusCode: 400, Header: http.Header{}}, []byte(body)); e.NoReason != want {
			t.Errorf("%s: without a reason is %v", body, e.NoReason)
		}
	}
}
