package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	serveTurns   = 100
	serveClients = 1000
	// Of the clients, so many read nothing, and so many go away and come back.
	serveStalled, serveRestless = 20, 100
	serveRuns                   = 3
	// leastServe is the part of the proxy's rate that is wanted, mostServe what
	// the clients may take of memory.
	leastServe = 0.7
	mostServe  = 64 << 20
	// serveWait is far more than anything takes that is waited for here: the
	// longest is the time after which a client that takes nothing is dropped.
	serveWait = 2 * time.Minute
)

// servePlans are the two kinds of run. The first tells of delays and of what one
// event costs, the second of how fast events go through. The second is also long
// enough that a client which reads nothing is one that nothing can be written to.
func servePlans() []servePlan {
	return []servePlan{{events: 300, every: 50 * time.Millisecond}, {events: 800}}
}

// served are the figures of one run.
type served struct {
	rate, perCPU float64 // events a second, and a second of the server's CPU
	p50, p99     time.Duration
	idle, loaded int64 // anonymous memory
	before, left int   // goroutines
	dropped      int
}

// runServe prints how a thousand clients follow a hundred turns, beside a bare
// reverse proxy that passes as many of the same streams.
func runServe(l *lab) error {
	src, err := startSource()
	if err != nil {
		return err
	}
	defer src.close()
	kinds := []struct {
		label string
		start func(*lab, *source, int) (*served1, error)
	}{{"fettle serve", startFettle}, {"reverse proxy", startProxy}}
	var misses []error
	for _, plan := range servePlans() {
		all := make([][]served, len(kinds))
		for run := range serveRuns {
			for k, kind := range kinds {
				s, err := kind.start(l, src, run)
				if err != nil {
					return fmt.Errorf("%s: %w", kind.label, err)
				}
				f, err := s.run(plan)
				if err := errors.Join(err, s.stop()); err != nil {
					return fmt.Errorf("%s: %w", kind.label, err)
				}
				all[k] = append(all[k], f)
			}
		}
		how := "as fast as they are taken"
		if plan.every > 0 {
			how = fmt.Sprintf("%d a second", time.Second/plan.every)
		}
		fmt.Printf("\n%d clients of %d turns of %d events, %s; %d read nothing, %d come and go (medians of %d)\n",
			serveClients, serveTurns, plan.events, how, serveStalled, serveRestless, serveRuns)
		for k, kind := range kinds {
			printServed(kind.label, all[k])
		}
		misses = append(misses, judgeServed(all[0], all[1]))
	}
	fmt.Printf("  target: at least %.1f × the proxy's rate, under %d MiB more than idle, no goroutine left\n", leastServe, mostServe>>20)
	return errors.Join(append(misses, runServeAPIs(l))...)
}

func printServed(label string, runs []served) {
	memory := medianOf(runs, func(f served) int64 { return f.loaded - f.idle })
	fmt.Printf("  %-14s %8.0f events/s  %8.0f events per CPU second  delay p50 %s p99 %s\n", label,
		medianOf(runs, func(f served) float64 { return f.rate }), medianOf(runs, func(f served) float64 { return f.perCPU }),
		ms(medianOf(runs, func(f served) time.Duration { return f.p50 })), ms(medianOf(runs, func(f served) time.Duration { return f.p99 })))
	fmt.Printf("  %-14s %8.1f MiB anonymous when idle, %.1f more at most: %.1f KiB a client", "",
		mib(medianOf(runs, func(f served) int64 { return f.idle })), mib(memory), float64(memory)/1024/serveClients)
	if last := runs[len(runs)-1]; last.before > 0 {
		fmt.Printf("; goroutines %d before, %d after; %d that read nothing were dropped and resumed", last.before, last.left, last.dropped)
	}
	fmt.Println()
}

// judgeServed compares with the targets.
func judgeServed(ours, proxy []served) error {
	rate := func(f served) float64 { return f.rate }
	cpu := func(f served) float64 { return f.perCPU }
	byRate, byCPU := medianOf(ours, rate)/medianOf(proxy, rate), medianOf(ours, cpu)/medianOf(proxy, cpu)
	fmt.Printf("  ratio to the proxy: %.2f of its rate, %.2f of its events per CPU second\n", byRate, byCPU)
	var misses []error
	if byRate < leastServe {
		misses = append(misses, fmt.Errorf("%.2f of the proxy's rate is less than %.1f", byRate, leastServe))
	}
	for _, f := range ours {
		if f.loaded-f.idle > mostServe {
			misses = append(misses, fmt.Errorf("%.1f MiB are more than %d", mib(f.loaded-f.idle), mostServe>>20))
		}
		if f.left > f.before {
			misses = append(misses, fmt.Errorf("%d goroutines are left of %d", f.left, f.before))
		}
	}
	return errors.Join(misses...)
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

func medianOf[T cmp.Ordered](runs []served, of func(served) T) T {
	values := make([]T, len(runs))
	for i, f := range runs {
		values[i] = of(f)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// run has the clients follow, and measures meanwhile.
func (s *served1) run(plan servePlan) (f served, err error) {
	if f.idle, err = s.anonymous(); err != nil {
		return f, err
	}
	if f.before, err = s.warm(); err != nil {
		return f, err
	}
	s.src.next(plan)
	paths, streams, err := s.begin()
	if err != nil {
		return f, err
	}
	all := s.clients(plan, paths)
	if err := openAll(all); err != nil {
		return f, err
	}
	if streams == 0 { // one for each client
		streams = serveClients
	}
	cpu, err := s.cpu()
	if err != nil {
		return f, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	peak := make(chan int64, 1)
	go func() { peak <- s.watch(ctx) }()
	if err = s.src.open(streams); err == nil {
		begun := time.Now()
		err = followAll(all)
		took := time.Since(begun)
		after, err2 := s.cpu()
		err = errors.Join(err, err2)
		events := 0
		var d delays
		for _, c := range all {
			if !c.stalls {
				events += c.place
				d.merge(&c.delays)
			}
		}
		f.rate, f.perCPU = float64(events)/took.Seconds(), float64(events)/(after-cpu).Seconds()
		f.p50, f.p99 = d.quantile(0.5), d.quantile(0.99)
	}
	if err == nil {
		f.dropped, err = s.resumeStalled(all)
	}
	cancel()
	f.loaded = <-peak
	for _, c := range all {
		c.conn.Close()
	}
	if err == nil {
		f.left, err = s.settle(f.before)
	}
	return f, err
}

// clients are as many of each turn; which of them are slow or restless is spread
// over the turns.
func (s *served1) clients(plan servePlan, paths []string) []*follower {
	all := make([]*follower, serveClients)
	for i := range all {
		all[i] = &follower{host: s.host, token: s.token, path: paths[i%len(paths)], events: plan.events}
		switch place := i / len(paths); {
		case place == 0 && i%len(paths) < serveStalled:
			all[i].stalls = true
		case place == 1 && i%len(paths) < serveRestless:
			all[i].leaves = rand.New(rand.NewPCG(uint64(i), 7))
		}
	}
	return all
}

// openAll connects everybody, some at once.
func openAll(all []*follower) error {
	return each(all, 50, func(c *follower) error {
		status, err := c.open()
		if err == nil && status != 200 {
			err = fmt.Errorf("%s: status %d", c.path, status)
		}
		return err
	})
}

// followAll is done when all who read have the end of their turn.
func followAll(all []*follower) error {
	return each(all, len(all), func(c *follower) error {
		if c.stalls {
			return nil
		}
		return c.follow()
	})
}

func each(all []*follower, atOnce int, do func(*follower) error) error {
	errs := make([]error, len(all))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, c := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(c)
		})
	}
	wg.Wait()
	var some []string
	for _, err := range errs {
		if err != nil && len(some) < 3 {
			some = append(some, err.Error())
		}
	}
	if len(some) > 0 {
		return errors.New(strings.Join(some, "\n"))
	}
	return nil
}

// resumeStalled waits until those who read nothing are dropped, where the server
// drops them, and has them come back.
func (s *served1) resumeStalled(all []*follower) (dropped int, err error) {
	if !s.drops {
		return 0, nil
	}
	slow := slices.DeleteFunc(slices.Clone(all), func(c *follower) bool { return !c.stalls })
	if err := s.quiet(); err != nil {
		return 0, err
	}
	err = each(slow, len(slow), (*follower).stalled)
	for _, c := range slow {
		if c.dropped {
			dropped++
		}
	}
	return dropped, err
}

func (l *lab) serveDir(run int) string { return filepath.Join(l.dir, fmt.Sprintf("serve-%d", run)) }
