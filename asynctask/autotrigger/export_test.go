package autotrigger

const (
	BusyInterval = busyInterval
	RetryDelay   = retryDelay
	Window       = window
)
