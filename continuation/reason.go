package continuation

import "github.com/carryon-go/carryon/internal/reasons"

// Reason says why a turn is or is not continued. Programs use [Reason.Code], which never
// changes; [Reason.String] is for people. New reasons may be added.
//
// Those that programs most often look for are "tool_calls", if it is the program's turn;
// "no_active_todos", "nothing_open" and "check_passed", if the work is done; "no_list";
// "paused"; "asks_user"; "background", if other work is awaited; "max_attempts" and the
// others for which [Reason.Exhausted] is true; "failed"; and "broke_off".
//
// Code returns the name of the reason for programs, for example as a label of metrics or a
// key of a table: lower-case letters and "_", such as "no_list". Continues reports whether
// a turn with this reason is continued, and Exhausted whether a budget is used up. A Reason
// is stored as its code (MarshalText, UnmarshalText), so that it keeps its meaning in later
// versions; reading fails for a code that this version does not know.
type Reason = reasons.Reason
