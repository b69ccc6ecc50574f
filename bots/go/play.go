package botarena

import (
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "botarena/arenapb"
)

const (
	firstDelay = 500 * time.Millisecond
	maxDelay   = 30 * time.Second
	// steady: a stream that lived so long was a good one; the next failure starts again from firstDelay.
	steady = 5 * time.Second
	// answerTime is how long the arena may take to answer Hello.
	answerTime = 10 * time.Second
	// silentPings missing pings mean that the connection is dead, whatever TCP believes.
	silentPings = 3
	// goodbye is how long the last OnEnd may take after the arena has closed the stream.
	goodbye = 30 * time.Second
)

// Settings are how a process connects.
type Settings struct {
	// Address of the arena: host:port or unix:path.
	Address string
	// Token of the bot; not needed for a socket file.
	Token string
	// Instance tells several processes of one bot apart. Empty: "0".
	Instance string
	// Credit is how many games are played at once. 0: 1.
	Credit uint32
	// Strict: what Act returns as an error ends the process, not only that game.
	Strict bool
	// Insecure: no TLS to another machine.
	Insecure bool
	// CA is the path of a private CA's certificate in PEM: TLS is spoken, to this machine too, and it alone is trusted.
	CA string
	// Patience is how long nothing may answer before the process gives up. 0: 30 s before the first connection; after it
	// 60 s at a socket file, and without end elsewhere.
	Patience time.Duration
	// Logger takes what the SDK has to say. nil: slog.Default().
	Logger *slog.Logger
}

// Play plays until SIGINT or SIGTERM has drained the bot, and returns nil then; a second signal ends it at once. Else it
// returns an [*Error] that says why the process cannot go on.
func Play(bot Bot, settings Settings) error {
	target, err := parseTarget(settings.Address, settings.Insecure, settings.CA)
	if err != nil {
		return err
	}
	if settings.Token == "" && !target.isSocket() {
		return misconfigured("no token: set ARENA_TOKEN or -token; `arena register` or `arena token create` makes one")
	}
	if err := bot.check(); err != nil {
		return err
	}
	settings.Credit = max(1, settings.Credit)
	if settings.Logger == nil {
		settings.Logger = slog.Default()
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	return newClient(&bot, settings, target, signals).run()
}

// client opens one stream after another until there is nothing left to play. Its goroutine is the session's.
type client struct {
	bot      *Bot
	settings Settings
	target   target
	log      *slog.Logger
	session  *session
	signals  <-chan os.Signal
	outcomes chan outcome
	// stopped is closed when run returns, so that no worker waits for it.
	stopped chan struct{}
}

func newClient(bot *Bot, settings Settings, target target, signals <-chan os.Signal) *client {
	c := &client{
		bot:      bot,
		settings: settings,
		target:   target,
		log:      settings.Logger,
		signals:  signals,
		outcomes: make(chan outcome),
		stopped:  make(chan struct{}),
	}
	c.session = newSession(bot, c.log, func(outcome outcome) {
		select {
		case c.outcomes <- outcome:
		case <-c.stopped:
		}
	})
	return c
}

func (c *client) run() error {
	defer close(c.stopped)
	failures, silentSince := 0, time.Now()
	for !c.session.over() {
		started := time.Now()
		welcomed, problem, err := c.playStream()
		if err != nil {
			return err
		}
		if c.session.over() {
			break
		}
		if welcomed {
			silentSince = time.Now()
			if silentSince.Sub(started) >= steady {
				failures = 0
			}
		}
		if err := c.complain(problem, failures, silentSince); err != nil {
			return err
		}
		if err := c.pause(failures); err != nil {
			return err
		}
		failures++
	}
	return c.sayGoodbye()
}

// playStream plays over one stream until it ends; problem is what ended it. An error means: do not come back.
func (c *client) playStream() (welcomed bool, problem string, err error) {
	stream := openStream(c.target, c.settings.Token)
	defer stream.close()
	c.session.streamOpened(stream.send)
	defer c.session.streamClosed()
	hello := c.bot.hello(c.settings.Instance, c.settings.Credit, c.session.id)
	stream.send(&pb.BotEvent{Event: &pb.BotEvent_Hello{Hello: hello}})
	heard := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !c.session.over() {
		select {
		case frame := <-stream.frames:
			heard = time.Now()
			err = c.handle(frame)
			stream.limit(c.session.welcome.GetLimits().GetMaxFrameBytes())
		case end := <-stream.ended:
			welcomed = c.session.welcome != nil
			problem, err = judge(end, welcomed)
			return welcomed, problem, err
		case outcome := <-c.outcomes:
			err = c.decided(outcome)
		case <-c.signals:
			err = c.interrupt()
		case now := <-tick.C:
			c.session.settle(now)
			if now.Sub(heard) > c.silence() {
				return c.session.welcome != nil, "the arena went silent", nil
			}
		}
		if err != nil {
			return false, "", err
		}
	}
	return true, "", nil
}

func (c *client) handle(frame *pb.PlayResponse) error {
	for _, event := range frame.GetEvents() {
		if err := c.session.handle(event); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) decided(outcome outcome) error {
	if outcome.err != nil && c.settings.Strict {
		return &Error{Kind: Failed, Message: "the bot failed: " + outcome.err.Error(), Err: outcome.err}
	}
	c.session.decided(outcome)
	return nil
}

// interrupt is what a signal does: the first finishes what runs, the second ends at once.
func (c *client) interrupt() error {
	if c.session.draining {
		return failure(Interrupted, "stopped at once")
	}
	c.log.Info("finishing what runs; once more to stop at once", "games", len(c.session.games))
	c.session.drain()
	return nil
}

// silence is how long nothing may be heard on a stream.
func (c *client) silence() time.Duration {
	if c.session.welcome == nil {
		return answerTime
	}
	ping := milliseconds(c.session.welcome.GetLimits().GetPingIntervalMs())
	if ping == 0 {
		return math.MaxInt64
	}
	return max(answerTime, silentPings*ping)
}

// pause waits before the next stream; games think on meanwhile.
func (c *client) pause(failures int) error {
	delay := retryDelay(failures)
	if within := c.session.reconnectWithin; within > 0 {
		delay = rand.N(within)
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for !c.session.over() {
		select {
		case <-timer.C:
			return nil
		case outcome := <-c.outcomes:
			if err := c.decided(outcome); err != nil {
				return err
			}
		case <-c.signals:
			if err := c.interrupt(); err != nil {
				return err
			}
		}
	}
	return nil
}

// complain says once what is wrong. An error means that patience is over.
func (c *client) complain(problem string, failures int, silentSince time.Time) error {
	patience := c.settings.Patience
	if patience == 0 {
		patience = c.target.patience(c.session.id != "")
	}
	if patience > 0 && time.Since(silentSince) > patience {
		return failure(Unreachable, "no arena answers at %s (%s): is it up, and is ARENA_ADDRESS right?",
			c.target.text, problem)
	}
	level := slog.LevelWarn
	if failures > 0 || c.session.reconnectWithin > 0 {
		level = slog.LevelDebug
	}
	c.log.Log(context.Background(), level, "the connection ended; trying again",
		"address", c.target.text, "problem", problem)
	return nil
}

// sayGoodbye waits until every player has been told its result.
func (c *client) sayGoodbye() error {
	patience := time.After(goodbye)
	for _, worker := range c.session.ending {
		for waiting := true; waiting; {
			select {
			case <-worker.done:
				waiting = false
			case <-c.outcomes: // of a game that is over
			case <-c.signals:
				return failure(Interrupted, "stopped at once")
			case <-patience:
				return nil
			}
		}
	}
	return nil
}

// retryDelay is a random part of 0.5 s, doubling with each failure in a row up to 30 s, so that a herd of bots comes back
// spread out.
func retryDelay(failures int) time.Duration {
	return rand.N(min(maxDelay, firstDelay<<min(failures, 10)))
}

// refusals are statuses with which trying again would change nothing, and what the author can do.
var refusals = map[codes.Code]struct {
	kind   Kind
	advice string
}{
	codes.Unauthenticated:    {Refused, "check ARENA_TOKEN: all of what `arena register` or `arena token create` printed"},
	codes.PermissionDenied:   {Refused, "the token must be of the account that owns the bot"},
	codes.FailedPrecondition: {VersionSkew, "update the SDK"},
	codes.NotFound:           {Misconfigured, "check the names of the bot and its games; `arena games` lists them"},
	codes.InvalidArgument:    {Misconfigured, "check the bot's name, version and games"},
	codes.Unimplemented:      {Misconfigured, "what answers at this address is no arena"},
}

// judge says what ended a stream. An error means: do not come back. A session that was good may be interrupted by
// anything on the way, and stops for its token alone.
func judge(end error, welcomed bool) (problem string, err error) {
	if end == nil {
		return "closed", nil
	}
	status := status.Convert(end)
	details, _, _ := strings.Cut(status.Message(), "\n")
	if details == "" {
		details = status.Code().String()
	}
	refusal, refused := refusals[status.Code()]
	if refused && (!welcomed || refusal.kind == Refused) {
		return "", failure(refusal.kind, "the arena refused the bot: %s; %s", strings.TrimRight(details, "."), refusal.advice)
	}
	return details, nil
}
