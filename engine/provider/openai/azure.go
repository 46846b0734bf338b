package openai

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// azure reports whether an address is a resource of Azure OpenAI or Azure AI Foundry.
func azure(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	for _, domain := range []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// azureBase completes the address of a resource that was given without its path: the v1
// API, where a model is named by its deployment. An address of one deployment
// (…/openai/deployments/NAME, with api-version in its query) is taken as it is.
//
// See https://learn.microsoft.com/azure/foundry/openai/reference.
func azureBase(u *url.URL) *url.URL {
	if !azure(u) {
		return u
	}
	switch strings.Trim(u.Path, "/") {
	case "":
		return u.JoinPath("openai/v1")
	case "openai":
		return u.JoinPath("v1")
	}
	return u
}

// ErrDeployment is the cause of an error for an address of one deployment, whose only API is
// chat completions. The Responses API is part of the v1 API of the whole resource.
var ErrDeployment = errors.New("the Responses API of Azure is below /openai/v1, not below a deployment")

// deployment reports whether an address is that of one deployment at Azure.
func deployment(u *url.URL) bool {
	return azure(u) && strings.HasPrefix(strings.Trim(u.Path, "/"), "openai/deployments/")
}

// setKey adds a key as its server takes it. Azure's keys have a header of their own; a
// token of Microsoft Entra is a JSON Web Token, which begins with eyJ, and is sent as
// elsewhere.
func setKey(r *http.Request, key string) {
	if azure(r.URL) && !strings.HasPrefix(key, "eyJ") {
		r.Header.Set("Api-Key", key)
		return
	}
	r.Header.Set("Authorization", "Bearer "+key)
}
