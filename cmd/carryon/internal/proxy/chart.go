package proxy

import (
	"maps"
	"time"
)

// bar counts what has happened in a span of time.
type bar struct {
	Requests      int `json:"requests,omitzero"`
	Continuations int `json:"continuations,omitzero"`
	Resumed       int `json:"resumed,omitzero"`
	Unwanted      int `json:"unwanted,omitzero"`
	Failed        int `json:"failed,omitzero"`
	Unsent        int `json:"unsent,omitzero"`
}

func (b bar) plus(other bar) bar {
	return bar{
		Requests: b.Requests + other.Requests, Continuations: b.Continuations + other.Continuations, Resumed: b.Resumed + other.Resumed,
		Unwanted: b.Unwanted + other.Unwanted, Failed: b.Failed + other.Failed, Unsent: b.Unsent + other.Unsent,
	}
}

// chart counts what has happened over time: in each minute of the last hour, in each
// quarter of an hour of the last day, and on each day.
type chart struct {
	Minutes  bars `json:"minutes"`
	Quarters bars `json:"quarters"`
	Days     bars `json:"days"`
}

// bars are the bars of spans of the same length, by the number of the span since 1970.
type bars map[int64]bar

func newChart() chart { return chart{make(bars), make(bars), make(bars)} }

func (c *chart) clone() chart {
	return chart{maps.Clone(c.Minutes), maps.Clone(c.Quarters), maps.Clone(c.Days)}
}

// scales are the lengths of the spans, and how many of each are kept.
func (c *chart) scales() []scale {
	return []scale{{&c.Minutes, time.Minute, 60}, {&c.Quarters, 15 * time.Minute, 96}, {&c.Days, 24 * time.Hour, 400}}
}

type scale struct {
	bars *bars
	span time.Duration
	kept int64
}

// add adds what has happened at a time.
func (c *chart) add(at time.Time, one bar) {
	for _, s := range c.scales() {
		now := at.Unix() / int64(s.span/time.Second)
		if *s.bars == nil {
			*s.bars = make(bars)
		}
		(*s.bars)[now] = (*s.bars)[now].plus(one)
		s.prune(now)
	}
}

// prune drops what is too old, and what the clock has taken back.
func (s scale) prune(now int64) {
	for number := range *s.bars {
		if number > now || number <= now-s.kept {
			delete(*s.bars, number)
		}
	}
}

// merge adds another chart.
func (c *chart) merge(other *chart) {
	theirs := other.scales()
	for i, s := range c.scales() {
		if *s.bars == nil {
			*s.bars = make(bars)
		}
		newest := int64(0)
		for number, one := range *theirs[i].bars {
			(*s.bars)[number] = (*s.bars)[number].plus(one)
		}
		for number := range *s.bars {
			newest = max(newest, number)
		}
		s.prune(newest)
	}
}
