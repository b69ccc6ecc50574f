package botarena

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	pb "botarena/arenapb"
)

// outcome is what became of a decision; err is what the bot's own code returned, if it failed.
type outcome struct {
	act *pb.Act
	err error
}

// worker runs one game's player on a goroutine of its own, so that a slow Act delays neither pings nor other games.
// Calls are queued and run in order.
type worker struct {
	match  *pb.MatchStarted
	report func(outcome)
	log    *slog.Logger

	// ctx ends with the game.
	ctx    context.Context
	finish context.CancelFunc
	// newest is the decision that the arena waits for: a request that an Act delayed is dropped if a newer one came.
	newest atomic.Uint32
	jobs   queue[func()]
	// done is closed when the goroutine ends.
	done chan struct{}

	// Of the goroutine alone.
	player Player
	err    error
}

// startWorker begins a game. report is called on the game's goroutine.
func startWorker(bot *Bot, match *pb.MatchStarted, log *slog.Logger, report func(outcome)) *worker {
	ctx, finish := context.WithCancel(context.Background())
	w := &worker{match: match, report: report, log: log, ctx: ctx, finish: finish, done: make(chan struct{})}
	w.jobs.init()
	go func() {
		defer close(w.done)
		w.guard("New", func() error { w.player = bot.player(match); return nil })
		for job, ok := w.jobs.take(); ok; job, ok = w.jobs.take() {
			job()
		}
	}()
	return w
}

// observe tells the player what happened.
func (w *worker) observe(events []*pb.ObservedEvent) {
	w.jobs.put(func() {
		observer, ok := w.player.(Observer)
		if !ok || w.err != nil {
			return
		}
		w.guard("OnEvent", func() error {
			for _, event := range events {
				observer.OnEvent(event)
			}
			return nil
		})
	})
}

// decide asks the player.
func (w *worker) decide(request *pb.DecisionRequested) {
	arrived := time.Now()
	w.newest.Store(request.GetDecisionId())
	w.jobs.put(func() {
		if w.newest.Load() != request.GetDecisionId() || w.ctx.Err() != nil {
			return
		}
		var act *pb.Act
		if w.err == nil {
			w.guard("Act", func() (err error) { act, err = w.act(request, arrived); return err })
		}
		if w.err != nil {
			act = failureAct(request)
		}
		w.report(outcome{act, w.err})
	})
}

// end tells the player the result, and ends the goroutine once that is done.
func (w *worker) end(result *Result) {
	w.finish()
	w.jobs.put(func() {
		if ender, ok := w.player.(Ender); ok {
			w.guard("OnEnd", func() error { ender.OnEnd(result); return nil })
		}
	})
	w.jobs.close()
}

func (w *worker) act(request *pb.DecisionRequested, arrived time.Time) (*pb.Act, error) {
	clock := clockFrom(request.GetClock(), arrived)
	ctx, cancel := context.WithDeadline(w.ctx, arrived.Add(clock.Limit))
	defer cancel()
	legal := legalFrom(request)
	choice, err := w.player.Act(ctx, viewFrom(w.match, request), legal, clock)
	if err != nil {
		return nil, err
	}
	if choice == nil {
		return nil, errors.New("Act chose nothing: return one of legal, its ID or its Text")
	}
	return actFrom(request, legal, choice)
}

// guard runs the bot's own code. After it has failed, every decision is answered as failed.
func (w *worker) guard(where string, code func() error) {
	defer func() {
		if problem := recover(); problem != nil {
			w.failed(where, fmt.Errorf("panic: %v", problem), "stack", string(debug.Stack()))
		}
	}()
	if err := code(); err != nil {
		w.failed(where, err)
	}
}

func (w *worker) failed(where string, err error, attributes ...any) {
	w.err = err
	if w.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return // the game ended while the bot was thinking
	}
	attributes = append([]any{"game", w.match.GetGame(), "error", err}, attributes...)
	w.log.Error(where+" failed: this game is given up, others go on", attributes...)
}

// queue is a channel without a bound.
type queue[T any] struct {
	mutex  sync.Mutex
	change *sync.Cond
	items  []T
	closed bool
}

func (q *queue[T]) init() { q.change = sync.NewCond(&q.mutex) }

func (q *queue[T]) put(item T) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.items = append(q.items, item)
	q.change.Signal()
}

// close ends the queue after what was put before.
func (q *queue[T]) close() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.closed = true
	q.change.Broadcast()
}

// take waits for an item; false: the queue was closed, and all were taken.
func (q *queue[T]) take() (item T, ok bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.change.Wait()
	}
	if len(q.items) == 0 {
		return item, false
	}
	item = q.items[0]
	q.items = q.items[1:]
	return item, true
}

// drain takes all there is, after waiting for something; false: the queue was closed.
func (q *queue[T]) drain() ([]T, bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.change.Wait()
	}
	items := q.items
	q.items = nil
	return items, len(items) > 0
}
