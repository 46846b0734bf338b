package server

import (
	"net/http"
)

// googleMessage is for clients of an API that this server does not have.
const googleMessage = "fettle serve has no Gemini API (generateContent). Use an OpenAI-compatible client with the base URL /v1 of this server, " +
	"an Anthropic one, or one of Ollama's; any provider's models answer there. docs/gemini.md has examples"

// noGoogle answers requests of Google's Gemini API with an error in that API's form, so that
// its clients show the message.
func noGoogle(_ *Server, w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusNotImplemented, googleJSON{googleError{http.StatusNotImplemented, googleMessage, "UNIMPLEMENTED"}})
	return nil
}

type (
	googleJSON struct {
		Error googleError `json:"error"`
	}
	googleError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	}
)

// googleRoutes need no token: what they return is the same for everyone, and Google's clients
// send their key where no other API has it.
func googleRoutes() []route {
	const summary = "Google's Gemini API is not available; the error names what to use"
	return []route{
		{op: "google_models", method: http.MethodGet, path: "/v1beta/models", do: noGoogle, public: true, status: http.StatusNotImplemented, gives: googleJSON{}, summary: summary},
		{op: "google_model", method: http.MethodGet, path: "/v1beta/models/{model...}", do: noGoogle, public: true, status: http.StatusNotImplemented, gives: googleJSON{}, summary: summary},
		{op: "google_call", method: http.MethodPost, path: "/v1beta/models/{call...}", do: noGoogle, public: true, takes: jsonBody(), max: maxTurn, status: http.StatusNotImplemented, gives: googleJSON{}, summary: summary},
	}
}
