package botarena

import (
	"errors"
	"fmt"
)

// Kind says why a bot's process stops. Its number is the exit code.
type Kind int

const (
	// Failed: the bot's own code failed, and [Settings.Strict].
	Failed Kind = 1
	// Misconfigured: a setting is missing or wrong, or the arena does not know the bot or a game.
	Misconfigured Kind = 2
	// Refused: the arena does not accept the token, or has revoked it.
	Refused Kind = 3
	// VersionSkew: this SDK and the arena speak different versions of the protocol.
	VersionSkew Kind = 4
	// Replaced: a newer process connected as the same instance of the same bot.
	Replaced Kind = 5
	// Unreachable: nothing answers at the address for longer than the process is willing to wait.
	Unreachable Kind = 6
	// Interrupted: the second signal, which ends a bot at once.
	Interrupted Kind = 130
)

// Error is why [Play] stopped: one line that says what to do.
type Error struct {
	Kind    Kind
	Message string
	// Err is what the bot's own code returned, if it is to blame.
	Err error
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// ExitCode is the status that a process ends with after err, which came from [Play]: 0 for nil.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	var known *Error
	if errors.As(err, &known) {
		return int(known.Kind)
	}
	return int(Failed)
}

func failure(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

func misconfigured(format string, args ...any) error {
	return failure(Misconfigured, format, args...)
}
