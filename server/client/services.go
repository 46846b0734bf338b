package client

import (
	"context"
	"net/http"
	"net/url"
)

// ServiceAt gives the address by which browsers on this machine reach the service of a
// call, or in words why there is none. Both are empty where the call is of no service.
func (l *Local) ServiceAt(ctx context.Context, callID string) (address, problem string, err error) {
	var shown struct {
		URL     string    `json:"url"`
		Problem string    `json:"problem"`
		Service *struct{} `json:"service"`
	}
	if err := l.call(ctx, http.MethodPost, "/api/tool-calls/"+url.PathEscape(callID)+"/artifact", nil, &shown); err != nil || shown.Service == nil {
		return "", "", err
	}
	return shown.URL, shown.Problem, nil
}
