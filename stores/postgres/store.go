package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carryon-go/carryon/records"
)

// defaultTable is the table for records unless [WithTable] names another.
const defaultTable = "carryon_records"

// Engine stores records in a table. It is safe for concurrent use. Create it with
// [Open] or [New]: the zero value is not usable.
type Engine struct {
	records records.Records // of this engine's swaps

	pool  *pgxpool.Pool
	table string // with its schema, if it has one
	close func()
	sql   statements
}

var (
	_ records.Records  = (*Engine)(nil)
	_ records.Notifier = (*Engine)(nil)
)

// Option configures an [Engine].
type Option func(*options)

type options struct {
	table string
	err   error // the joined errors of invalid options
}

var validTable = regexp.MustCompile(`^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$`)

// WithTable stores the records in this table, not in carryon_records. The name may
// have a schema before it, as in "app.carryon". Both consist of lower-case letters,
// digits and underscores.
func WithTable(name string) Option {
	return func(o *options) {
		o.table = name
		if !validTable.MatchString(name) {
			o.err = errors.Join(o.err,
				fmt.Errorf("postgres: WithTable: %q is no name for a table (small letters, digits, underscores)", name))
		}
	}
}

// Open returns an engine for the database at a URL in libpq's format. The URL may
// have parameters of pgxpool, such as pool_max_conns. Open does not connect;
// [Engine.Ping] does. Close the engine when you no longer need it.
func Open(ctx context.Context, url string, opts ...Option) (*Engine, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s, err := New(pool, opts...)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.close = pool.Close
	return s, nil
}

// New returns an engine on a pool that the caller owns and closes. It fails if pool is
// nil or an option is invalid. It does not connect.
func New(pool *pgxpool.Pool, opts ...Option) (*Engine, error) {
	if pool == nil {
		return nil, errors.New("postgres: nil pool")
	}
	o := options{table: defaultTable}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	s := &Engine{pool: pool, table: o.table, close: func() {}, sql: statementsFor(o.table)}
	s.records = records.NewSwapping(swapper{s})
	return s, nil
}

// Ping connects to the server and checks that it answers. Call it when the program
// starts, to report a wrong URL or password at once.
func (s *Engine) Ping(ctx context.Context) error { return wrap(s.pool.Ping(ctx)) }

// Close closes the pool that [Open] has created, and waits until no connection is in
// use. It does not close a pool passed to [New]. It returns nil.
func (s *Engine) Close() error {
	s.close()
	return nil
}

// Update implements [records.Records].
func (s *Engine) Update(ctx context.Context, key string, f records.UpdateFunc) error {
	return s.records.Update(ctx, key, f)
}

// swapper swaps the records of an engine.
type swapper struct{ *Engine }

// Swap implements [records.Swapper].
func (s swapper) Swap(ctx context.Context, key string, swap records.Swap) (records.Snapshot, bool, error) {
	now, swapped, err := s.sql.swap(ctx, s.pool, key, swap)
	var failed *pgconn.PgError
	if errors.As(err, &failed) && (failed.Code == serializationFailure || failed.Code == deadlock) {
		// Another change came first. At this isolation level the record must be read again.
		now, _, err = s.sql.swap(ctx, s.pool, key, records.Swap{})
	}
	return now, swapped, wrap(err)
}

// InTx returns records inside tx, a transaction of the program: their changes take
// effect when tx is committed, and not at all if it is rolled back. Use it to end a
// job whose own changes are in the same transaction; see the function FinishIn of
// carryon/asynctask/job.
//
// A changed record stays locked until tx ends, so change it last. The records are
// valid only as long as tx.
func (s *Engine) InTx(tx pgx.Tx) records.Records { return records.NewSwapping(&inTx{tx, s.sql}) }

// inTx is an engine in a transaction.
type inTx struct {
	tx  pgx.Tx
	sql statements
}

// Swap implements [records.Swapper].
func (e *inTx) Swap(ctx context.Context, key string, swap records.Swap) (records.Snapshot, bool, error) {
	now, swapped, err := e.sql.swap(ctx, e.tx, key, swap)
	return now, swapped, wrap(err)
}

const (
	serializationFailure = "40001"
	deadlock             = "40P01"
)

// asked runs a statement: a pool or a transaction.
type asked interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// swap runs one statement. It returns the record as it was before the change, with
// the new revision after a Replace.
func (s *statements) swap(ctx context.Context, to asked, key string, swap records.Swap) (now records.Snapshot, swapped bool, err error) {
	expected, err := revisionOf(swap.Revision)
	if err != nil {
		return now, false, err
	}
	next := rand.Int64() //nolint:gosec // it tells changes apart, and guards nothing
	sql, args := s.look, []any{[]byte(key), expected}
	switch {
	case swap.Action == records.Renew:
		sql, args = s.renew, append(args, interval(swap.Keep), interval(swap.Keep/2))
	case swap.Action == records.Remove:
		sql = s.remove
	case swap.Action == records.Replace && expected == nil:
		sql, args = s.insert, append(args, next, swap.Record, interval(swap.Keep))
	case swap.Action == records.Replace:
		sql, args = s.update, append(args, next, swap.Record, interval(swap.Keep))
	}
	var found *int64
	err = to.QueryRow(ctx, sql, args...).Scan(&swapped, &now.Now, &found, &now.Record)
	switch {
	case err != nil:
		return records.Snapshot{}, false, err
	case swapped && swap.Action == records.Replace:
		now.Revision = strconv.FormatInt(next, 10)
	case found != nil:
		now.Revision = strconv.FormatInt(*found, 10)
	}
	return now, swapped, nil
}

// revisionOf returns a revision as the table stores it, nil for none.
func revisionOf(revision string) (*int64, error) {
	if revision == "" {
		return nil, nil //nolint:nilnil // SQL's null
	}
	n, err := strconv.ParseInt(revision, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("postgres: not a revision of this engine: %w", err)
	}
	return &n, nil
}

// interval returns how long to keep a record, nil for no limit.
func interval(keep time.Duration) *time.Duration {
	if keep < 0 {
		return nil
	}
	return &keep
}

// wrap names the package in an error of the client or the server.
func wrap(err error) error {
	var failed *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && failed.Code == undefinedTable:
		return fmt.Errorf("postgres: %w (Engine.CreateTable makes the table)", err)
	default:
		return fmt.Errorf("postgres: %w", err)
	}
}

const undefinedTable = "42P01"

// inTransaction runs f in a transaction.
func (s *Engine) inTransaction(ctx context.Context, f func(pgx.Tx) error) error {
	return wrap(pgx.BeginFunc(ctx, s.pool, f))
}
