package todo

// WithMaxItems sets how many todos a list may have. The default is 1,000; [Off] means
// no limit. A longer list is rejected.
func WithMaxItems(n int) MemoryOption {
	return func(o *memoryOptions) { o.maxItems = n }
}

// WithMaxContent sets how many bytes the content of a todo may have. The default is 64
// KiB; [Off] means no limit. A list with a longer content is rejected.
func WithMaxContent(bytes int) MemoryOption {
	return func(o *memoryOptions) { o.maxContent = bytes }
}

// WithMaxBytes sets roughly how many bytes the lists of all sessions may take in memory
// together. The default is 256 MiB; [Off] means no limit. Beyond the limit, the lists
// that were read or written least recently are dropped, but never the one that is being
// written.
func WithMaxBytes(bytes int) MemoryOption {
	return func(o *memoryOptions) { o.maxBytes = bytes }
}
