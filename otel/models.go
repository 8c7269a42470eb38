package otel

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// model holds the names and attributes under which a model is reported.
type model struct {
	name string
	span string // the name of the spans of its turns
	// own and continuation are the attributes of tokens, by kind of turn.
	own, continuation tokenLabels
}

// tokenLabels are the attributes of tokens.
type tokenLabels struct{ input, output []metric.AddOption }

func newModel(name string) *model {
	m := &model{name: name, span: chat, own: newTokenLabels(kindOwn, name), continuation: newTokenLabels(kindContinuation, name)}
	if name != "" {
		m.span += " " + name
	}
	return m
}

func newTokenLabels(kind, model string) tokenLabels {
	of := func(which string) []metric.AddOption {
		set := attribute.NewSet(turnKind.String(kind), tokenType.String(which), requestModel.String(model))
		return []metric.AddOption{metric.WithAttributeSet(set)}
	}
	return tokenLabels{of("input"), of("output")}
}

// tokens returns the attributes of the tokens of a turn.
func (m *model) tokens(turn int) *tokenLabels {
	if turn == 1 {
		return &m.own
	}
	return &m.continuation
}

// maxModels is how many models are cached.
const maxModels = 100

// models caches the first models seen, so that calls need not build them again.
// Nearly every program uses few models.
type models struct {
	mu   sync.RWMutex
	kept map[string]*model
}

func (m *models) of(name string) *model {
	m.mu.RLock()
	known := m.kept[name]
	m.mu.RUnlock()
	if known != nil {
		return known
	}
	added := newModel(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = make(map[string]*model)
	}
	if len(m.kept) < maxModels {
		m.kept[name] = added
	}
	return added
}
