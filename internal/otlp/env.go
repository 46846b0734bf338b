package otlp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The variables of the standard that are looked at.
const (
	envEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	envHeaders        = "OTEL_EXPORTER_OTLP_HEADERS"
	envTracesHeaders  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	envProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	envService        = "OTEL_SERVICE_NAME"
	envResource       = "OTEL_RESOURCE_ATTRIBUTES"
	envDisabled       = "OTEL_SDK_DISABLED"
	envExporter       = "OTEL_TRACES_EXPORTER"
)

// Config is where spans go, and what is said of their sender.
type Config struct {
	Endpoint string // the whole address
	Headers  map[string]string
	Service  string // empty is the program's name
	Resource []slog.Attr
}

// Host is the receiver, without what of its address may be a secret.
func (c Config) Host() string {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return ""
	}
	return u.Host
}

// FromEnv reads the standard's variables. ok is false where they name no receiver,
// or switch spans off; an error names the variable that can't be meant, and no value.
func FromEnv(lookup func(string) (string, bool)) (c Config, ok bool, err error) {
	get := func(names ...string) (value, name string) {
		for _, name := range names {
			if v, set := lookup(name); set && strings.TrimSpace(v) != "" { // an empty one is not set
				return strings.TrimSpace(v), name
			}
		}
		return "", ""
	}
	if v, _ := get(envDisabled); strings.EqualFold(v, "true") {
		return Config{}, false, nil
	}
	if v, _ := get(envExporter); v != "" && v != "otlp" {
		return Config{}, false, nil
	}
	address, from := get(envTracesEndpoint, envEndpoint)
	if address == "" {
		return Config{}, false, nil
	}
	if v, name := get(envTracesProtocol, envProtocol); v == "grpc" {
		return Config{}, false, fmt.Errorf("%s is grpc, and fettle speaks http/protobuf", name)
	}
	if c.Endpoint, err = endpoint(address, from == envEndpoint); err != nil {
		return Config{}, false, fmt.Errorf("%s is %w", from, err)
	}
	text, from := get(envTracesHeaders, envHeaders)
	if c.Headers, err = headers(text); err != nil {
		return Config{}, false, fmt.Errorf("%s is %w", from, err)
	}
	text, from = get(envResource)
	list, err := pairs(text)
	if err != nil {
		return Config{}, false, fmt.Errorf("%s is %w", from, err)
	}
	c.Service, _ = get(envService)
	for _, p := range list {
		switch {
		case p[0] == "service.name" && c.Service == "":
			c.Service = p[1]
		case p[0] != "service.name":
			c.Resource = append(c.Resource, slog.String(p[0], p[1]))
		}
	}
	return c, true, nil
}

// endpoint is the whole address; of a base, traces have a path of their own.
func endpoint(s string, base bool) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return "", errors.New("no http address, such as http://127.0.0.1:4318")
	}
	if base {
		u = u.JoinPath("v1", "traces")
	}
	return u.String(), nil
}

func headers(s string) (map[string]string, error) {
	list, err := pairs(s)
	out := make(map[string]string, len(list))
	for _, p := range list {
		if !httpguts.ValidHeaderFieldName(p[0]) || !httpguts.ValidHeaderFieldValue(p[1]) {
			return nil, errors.New("no list of headers")
		}
		out[p[0]] = p[1]
	}
	return out, err
}

// pairs reads name=value,name=value, with values in percent-encoding.
func pairs(s string) ([][2]string, error) {
	var out [][2]string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		name = strings.TrimSpace(name)
		if !ok || err != nil || name == "" || len(out) == maxAttrs {
			return nil, fmt.Errorf("no list of name=value with at most %d entries", maxAttrs)
		}
		out = append(out, [2]string{name, value})
	}
	return out, nil
}
