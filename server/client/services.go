package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/fettle-cli/fettle/toolset"
)

// Services lists the services that run in the server, the oldest first.
func (l *Local) Services(ctx context.Context) ([]toolset.Service, error) {
	var out struct {
		Services []toolset.Service `json:"services"`
	}
	err := l.call(ctx, http.MethodGet, "/api/services", nil, &out)
	return out.Services, err
}

// StopService ends the service of a call. NotFound says that the call is of none.
func (l *Local) StopService(ctx context.Context, callID string) error {
	return l.call(ctx, http.MethodDelete, "/api/tool-calls/"+url.PathEscape(callID)+"/service", nil, nil)
}

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
