package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Schema returns the statement that creates the table, for programs with their own
// database migrations. The table is carryon_records, or the name given to [WithTable].
//
// Rows change often and stay small. The fill factor leaves space in each page, so
// that PostgreSQL can update a row without touching the index.
func Schema(table string) string {
	return strings.ReplaceAll(`create table if not exists TABLE (
	key bytea primary key,
	revision bigint not null,
	record bytea not null,
	until timestamptz
) with (fillfactor = 70)`, "TABLE", table)
}

// CreateTable creates the table unless it exists. Several processes may call it at
// the same time.
func (s *Engine) CreateTable(ctx context.Context) error {
	return s.inTransaction(ctx, func(tx pgx.Tx) error {
		// "if not exists" alone fails for one of two that create it at once.
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtext($1))", "carryon "+s.table); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, Schema(s.table))
		return err
	})
}

// Sweep deletes expired records and returns how many. Readers never see expired
// records, so Sweep only frees space: once an hour is more than enough.
func (s *Engine) Sweep(ctx context.Context) (deleted int64, err error) {
	tag, err := s.pool.Exec(ctx, s.sql.sweep)
	return tag.RowsAffected(), wrap(err)
}

// statements are the SQL statements of one table. All but sweep take the key and the
// expected revision, null for no record. They return one row: whether the record had
// that revision, the server's time, the revision found, and the record if its
// revision is another one.
type statements struct {
	look, insert, update, renew, remove, sweep string
}

func statementsFor(table string) statements {
	const live = "(until is null or until > now())"
	// The select reads the snapshot with which the change begins. If another change
	// is committed in between, the change here finds no row.
	changing := func(change string) string {
		return "with done as (" + change + " returning 1) " +
			"select exists (select from done), clock_timestamp(), revision, " +
			"case when revision is distinct from $2::bigint then record end " +
			"from (select) as one left join TABLE on key = $1 and " + live
	}
	looking := func(with string) string {
		return with + "select revision is not distinct from $2::bigint, clock_timestamp(), revision, " +
			"case when revision is distinct from $2::bigint then record end " +
			"from (select) as one left join TABLE on key = $1 and " + live
	}
	own := strings.NewReplacer("TABLE", table, "LIVE", live)
	return statements{
		look: own.Replace(looking("")),
		insert: own.Replace(changing("insert into TABLE as old (key, revision, record, until) " +
			"select $1, $3, $4, now() + $5::interval where $2::bigint is null " +
			"on conflict (key) do update set revision = excluded.revision, record = excluded.record, until = excluded.until " +
			"where old.until <= now()")),
		update: own.Replace(changing("update TABLE set revision = $3, record = $4, until = now() + $5::interval " +
			"where key = $1 and revision = $2 and LIVE")),
		// Not every renewal needs a write.
		renew: own.Replace(looking("with done as (update TABLE set until = now() + $3::interval " +
			"where key = $1 and revision = $2 and LIVE and " +
			"((until is null) <> ($3::interval is null) or until < now() + $4::interval)) ")),
		remove: own.Replace(changing("delete from TABLE where key = $1 and revision = $2 and LIVE")),
		sweep:  own.Replace("delete from TABLE where until <= now()"),
	}
}
