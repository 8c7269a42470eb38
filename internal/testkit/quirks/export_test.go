package quirks

// UnknownMisreads returns the names in the lists of misreadings that match no
// row.
func UnknownMisreads() []string { return addMisreads(All()) }
