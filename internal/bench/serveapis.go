package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// apiStreams clients each follow a stream of apiEvents events, one every apiEvery.
	apiStreams, apiEvents = 100, 300
	apiEvery              = 50 * time.Millisecond
	// apiEmbedders clients each send apiRequests requests for the vector of one text, one
	// after the other.
	apiEmbedders, apiRequests = 8, 400
	// mostAPI is how much more CPU than the bare proxy an event may cost.
	mostAPI = 1.3
)

// apiFigure is what one event of an API costs a server.
type apiFigure struct {
	label string
	run   func(*served1) (events int, cpu time.Duration, err error)
}

// runServeAPIs prints what an event of other programs' APIs costs fettle, beside a bare
// reverse proxy that passes as many of the same events: a delta of a stream of /v1/messages,
// for which fettle translates from chat completions, and a request to /v1/embeddings.
func runServeAPIs(l *lab) error {
	src, err := startSource()
	if err != nil {
		return err
	}
	defer src.close()
	kinds := []func(*lab, *source, int) (*served1, error){startFettle, startProxy}
	var misses []error
	for _, api := range []apiFigure{{"/v1/messages, a delta", (*served1).messages}, {"/v1/embeddings, a request", (*served1).vectors}} {
		var costs [2][]time.Duration
		for run := range serveRuns {
			for k, start := range kinds {
				s, err := start(l, src, run)
				if err != nil {
					return err
				}
				events, cpu, err := api.run(s)
				if err := errors.Join(err, s.stop()); err != nil {
					return fmt.Errorf("%s: %w", api.label, err)
				}
				costs[k] = append(costs[k], cpu/time.Duration(events))
			}
		}
		ours, proxy := medianCost(costs[0]), medianCost(costs[1])
		ratio := float64(ours) / float64(proxy)
		fmt.Printf("  %-28s %8.1f µs of fettle's CPU, %8.1f µs of the proxy's: %.2f x (at most %.1f)\n",
			api.label, float64(ours)/1e3, float64(proxy)/1e3, ratio, mostAPI)
		if ratio > mostAPI {
			misses = append(misses, fmt.Errorf("%s costs %.2f x the proxy's CPU", api.label, ratio))
		}
	}
	return errors.Join(misses...)
}

func medianCost(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// together runs a client n times at once, and returns its events and what the server's CPU
// took between begin and the end.
func (s *served1) together(n int, begin func() error, client func(i int) (int, error)) (events int, cpu time.Duration, err error) {
	counts, errs := make([]int, n), make([]error, n)
	var wg sync.WaitGroup
	before, err := s.cpu()
	if err != nil {
		return 0, 0, err
	}
	for i := range n {
		wg.Go(func() { counts[i], errs[i] = client(i) })
	}
	if begin != nil {
		if err = begin(); err == nil {
			before, err = s.cpu()
		}
	}
	wg.Wait()
	after, err2 := s.cpu()
	for _, count := range counts {
		events += count
	}
	return events, after - before, errors.Join(append(errs, err, err2)...)
}

// messages follows streams of Anthropic's API.
func (s *served1) messages() (events int, cpu time.Duration, err error) {
	s.src.next(servePlan{events: apiEvents, every: apiEvery})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return s.together(apiStreams, func() error { return s.src.open(apiStreams) }, func(i int) (int, error) {
		body := fmt.Sprintf(`{"model":"openai/m","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"question %d"}]}`, i)
		res, err := s.post(client, "/v1/messages", body)
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		place := 0
		r := bufio.NewReader(res.Body)
		for {
			line, err := r.ReadSlice('\n')
			if bytes.Contains(line, []byte("content_block_delta")) {
				err = errors.Join(err, units(line, func(k int, _ time.Time) error {
					if k != place {
						return fmt.Errorf("delta %d came where %d belongs", k, place)
					}
					place++
					return nil
				}))
			}
			switch {
			case errors.Is(err, io.EOF) && place == apiEvents:
				return place, nil
			case err != nil:
				return place, fmt.Errorf("after %d of %d deltas: %w", place, apiEvents, err)
			}
		}
	})
}

// vectors asks for the vectors of texts.
func (s *served1) vectors() (requests int, cpu time.Duration, err error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: apiEmbedders}}
	defer client.CloseIdleConnections()
	ask := func(i, k int) error {
		res, err := s.post(client, "/v1/embeddings", fmt.Sprintf(`{"model":"openai/m","encoding_format":"base64","input":"text %d of %d"}`, k, i))
		if err != nil {
			return err
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err == nil && (res.StatusCode != http.StatusOK || len(raw) < 4*vectorNumbers) {
			err = fmt.Errorf("status %d: %.200s", res.StatusCode, raw)
		}
		return err
	}
	if err := ask(0, 0); err != nil { // connections and settings are made
		return 0, 0, err
	}
	return s.together(apiEmbedders, nil, func(i int) (int, error) {
		for k := range apiRequests {
			if err := ask(i, k); err != nil {
				return k, err
			}
		}
		return apiRequests, nil
	})
}

func (s *served1) post(client *http.Client, path, body string) (*http.Response, error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+s.host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	return client.Do(req)
}

// anthropic is the bare stream of /v1/messages, as fettle writes it.
func (s *source) anthropic(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	http.NewResponseController(w).Flush()
	p, ok := s.wait(r)
	if !ok {
		return
	}
	io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":0,\"output_tokens\":0}}}\n\n"+
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n")
	const head = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\""
	send(w, r, p, 0, func(dst []byte, k int) []byte {
		return append(unit(append(dst, head...), k), "\"}}\n\n"...)
	})
	io.WriteString(w, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
}
