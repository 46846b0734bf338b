package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// proxy passes every request on to another server and its answer back as it
// comes: the least that can stand between a stream and its client. It prints its
// address and ends when it is killed.
func proxy(to string) error {
	target, err := url.Parse(to)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1, // at once
		// Each stream has a connection of its own, however many there are.
		Transport: &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true},
	}
	fmt.Println("http://" + l.Addr().String())
	s := &http.Server{Handler: p, ReadHeaderTimeout: 5 * time.Second}
	return s.Serve(l)
}
