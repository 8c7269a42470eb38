package quirks

// UnknownMisreads returns the names in the lists of misreadings that are no
// rows.
func UnknownMisreads() []string { return addMisreads(All()) }
