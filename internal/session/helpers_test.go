package session_test

import "time"

var noon = time.Date(2030, time.January, 1, 12, 0, 0, 0, time.UTC)
