package botarena

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"
)

// Main is the whole main of a bot's program: it plays until told to stop, and ends the process, with one line on
// standard error if it could not go on. [ExitCode] and [Kind] have the exit codes.
//
// Settings come from flags (-help lists them) and the environment: ARENA_ADDRESS, ARENA_TOKEN, ARENA_CA,
// ARENA_INSTANCE and ARENA_LOG_LEVEL.
func Main(bot Bot) {
	settings, err := parseFlags(&bot, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err == nil {
		err = Play(bot, settings)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "botarena:", err)
	}
	os.Exit(ExitCode(err))
}

func parseFlags(bot *Bot, args []string) (Settings, error) {
	var settings Settings
	var level slog.Level
	flags := flag.NewFlagSet("bot", flag.ContinueOnError)
	flags.StringVar(&settings.Address, "address", os.Getenv("ARENA_ADDRESS"), "`host:port` or unix:path of the arena")
	// Not as the flag's default: -help would print it.
	flags.StringVar(&settings.Token, "token", "", "the bot's `token`; ARENA_TOKEN is better, which nobody sees in ps")
	flags.StringVar(&bot.Name, "name", bot.Name, "the bot's `name`, instead of the one in the program")
	flags.StringVar(&settings.Instance, "instance", os.Getenv("ARENA_INSTANCE"), "tells several processes of one bot apart")
	flags.Func("credit", "how `many` games at once (default 1)", func(text string) error {
		credit, err := strconv.ParseUint(text, 10, 32)
		if err == nil && credit == 0 {
			err = errors.New("at least 1 game")
		}
		settings.Credit = uint32(credit)
		return err
	})
	flags.BoolVar(&settings.Strict, "strict", false, "an error in the bot ends the process, not only the game")
	flags.BoolVar(&settings.Insecure, "insecure", false, "no TLS to an arena on another machine")
	flags.StringVar(&settings.CA, "ca", os.Getenv("ARENA_CA"), "TLS with this private CA, a PEM `file`; or else ARENA_CA")
	flags.Func("patience", "give up when no arena answers for so many `seconds`", func(text string) error {
		seconds, err := strconv.ParseFloat(text, 64)
		settings.Patience = time.Duration(seconds * float64(time.Second))
		return err
	})
	flags.TextVar(&level, "log-level", logLevel(), "debug, info, warn or error")
	version := flags.Bool("version", false, "print the SDK's version")
	flags.SetOutput(io.Discard) // an error is one line, not all of the help
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Println("A bot for a Bot Arena. Its flags:")
			flags.SetOutput(os.Stdout)
			flags.PrintDefaults()
			return settings, err
		}
		return settings, misconfigured("%v; -help lists the flags", err)
	}
	if flags.NArg() > 0 {
		return settings, misconfigured("what is %q? -help lists the flags", flags.Arg(0))
	}
	if *version {
		fmt.Println("botarena", Version)
		return settings, flag.ErrHelp
	}
	if settings.Token == "" {
		settings.Token = os.Getenv("ARENA_TOKEN")
	}
	slog.SetLogLoggerLevel(level)
	return settings, nil
}

// logLevel is ARENA_LOG_LEVEL, or else info.
func logLevel() slog.Level {
	level := slog.LevelInfo
	text := os.Getenv("ARENA_LOG_LEVEL")
	if text == "warning" { // Python's word
		text = "warn"
	}
	if text != "" {
		_ = level.UnmarshalText([]byte(text)) // what is no level leaves info
	}
	return level
}
