package todo

import (
	"context"
	"time"

	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/records"
)

// sharedList is a list as it is kept on an engine. An incompatible change takes the
// next version of the format, which must decode the older ones too: version 1 had no
// owners and blockers.
type sharedList struct {
	Todos []Todo `json:"todos"`
}

func listFormat() recordtable.Format { return recordtable.Format{Kind: "todos", Version: 2} }

// table returns the table that keeps the lists, or nil to keep them in memory.
func (o *memoryOptions) table() *recordtable.Table[sharedList] {
	if o.records == nil {
		return nil
	}
	return &recordtable.Table[sharedList]{Records: o.records, Format: listFormat()}
}

// keep returns how long a list is kept from now on.
func (o *memoryOptions) keep() time.Duration {
	if o.maxAge == Off {
		return records.Off
	}
	return o.maxAge
}

// lookShared is look for lists on an engine, which cannot count the other sessions.
func (m *Memory) lookShared(ctx context.Context, session string) (list []Todo, err error) {
	err = m.shared.Update(ctx, session, func(_ time.Time, kept sharedList) (sharedList, time.Duration, error) {
		if list = kept.Todos; list == nil {
			return kept, recordtable.Forget, nil
		}
		return kept, m.options.keep(), nil
	})
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return nil, &NoListError{}
	}
	return list, nil
}

// storeShared is store for lists on an engine.
func (m *Memory) storeShared(
	ctx context.Context, session string, next func(before []Todo) ([]Todo, error),
) (list []Todo, deliver bool, err error) {
	err = m.shared.Update(ctx, session, func(_ time.Time, kept sharedList) (sharedList, time.Duration, error) {
		var err error
		switch list, err = next(kept.Todos); {
		case err != nil:
			return kept, 0, err
		case len(list) == 0 && kept.Todos == nil:
			return kept, recordtable.Forget, nil
		case list == nil: // a list that was cleared is an empty one
			list = []Todo{}
		}
		return sharedList{list}, m.options.keep(), nil
	})
	if err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return list, m.feed.add(session, list), nil
}

// forgetShared is forget for lists on an engine.
func (m *Memory) forgetShared(ctx context.Context, session string) (deliver bool, err error) {
	existed := false
	err = m.shared.Update(ctx, session, func(_ time.Time, kept sharedList) (sharedList, time.Duration, error) {
		existed = kept.Todos != nil
		return sharedList{}, recordtable.Forget, nil
	})
	if err != nil || !existed {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.feed.add(session, nil), nil
}
