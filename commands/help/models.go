package help

// modelsPage is the page about models.
func modelsPage() string {
	return `How models are named, found and described.

A model is named PROVIDER/NAME, as in ollama/qwen3:8b or openai/gpt-5. The name
is the provider's own: it may have capitals, dots, colons and further slashes.

A short name works wherever it is unique among the providers that are set up:
  gpt-5, qwen3      the name alone, with or without the date of its release
  sonnet, haiku     a family: its newest model
  an alias          your own name for a model:
                      models:
                        openai/gpt-5-mini: {alias: fast}
A chat stores the full name, so that it keeps its model.

Who is asked where -m names no model, the first that there is:
  the setting model          FETTLE_MODEL, or model in the configuration
  a running Ollama           its models that call tools come first
  a provider with a key      of anthropic, openai and mistral, in this order
fettle models show tells which one that is.

Providers:
  ollama      models on this machine, or where OLLAMA_HOST says
  anthropic, openai, mistral
              with a key: of ANTHROPIC_API_KEY and so on, or of fettle keys set
  script      script/FILE plays a recorded or written model: no network, no key
  others      any OpenAI-compatible address, under a name of yours:
                providers:
                  local: {base_url: "http://127.0.0.1:8080/v1"}
              api chooses between OpenAI's two APIs, chat completions and the
              Responses API; without it, OpenAI's models that reason are asked
              by responses, all others by chat, and one that an address has for
              the other API alone by that one:
                  local: {…, api: responses}
              headers, query and body add to its requests:
                  local: {…, query: {user: lab}, body: {service_tier: flex}}
  Azure       a resource, where a model is named by its deployment, or one
              deployment; with a key, or with the command for a token as key
                azure: {base_url: "https://RES.openai.azure.com"}
                dated:
                  base_url: "https://RES.openai.azure.com/openai/deployments/D"
                  query: {api-version: "2024-10-21"}

What there is, and what is known of it:
  fettle models list                     all providers, side by side
  fettle models list --tools --local     that call tools, and run here
  fettle models show ollama/qwen3        each fact, and its source
  fettle models update                   fetch newer facts and prices

Models for Ollama:
  fettle models pull qwen3               a pull that was stopped goes on
  fettle models rm qwen3                 asks first

Parameters, for one question, in a prompt's front matter, or for a model:
  --effort high          none, minimal, low, medium, high, xhigh or max
  --temperature 0.2      from 0 to 2
  --max-tokens 4000      the longest response, reasoning included
  models:
    openai/gpt-5: {effort: low, max_tokens: 8000}
A question has precedence over a prompt's front matter, and that over the
configuration. A level that the model lacks becomes the nearest one that it has,
and a temperature that it refuses is left out; a footnote says so.

A list from elsewhere is believed for an hour; --refresh asks now. A provider on
this machine is asked each time. Completion of model names in the shell takes
what was listed last, and asks nobody.

The program contains a table of the large providers' models with their context,
abilities and prices, from models.dev. It fills the gaps in what a provider
says. What is in neither is tried, and left out where the model refuses it. The
configuration has precedence over both:
  models:
    openai/my-model: {context_length: 131072, tools: true, images: false}
`
}
