//! The geometry of the board: 15 rows of 15 squares, a square is `15 * row + column`.

pub const SIZE: usize = 15;
pub const SQUARES: usize = SIZE * SIZE;
/// The row of the landing pad.
pub const PAD_ROW: usize = 14;
pub const PAD_WIDTH: usize = 5;

/// (rows, columns) of the eight directions; the die `d` below 6 flies along `DIRECTIONS[d - 1]`.
pub const DIRECTIONS: [(i32, i32); 8] = [(0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)];

pub fn square(row: u32, column: u32) -> usize {
    SIZE * row as usize + column as usize
}

/// The next square in a direction; `None` beyond the edge.
pub fn step(from: usize, (down, right): (i32, i32)) -> Option<usize> {
    let shift = |place: usize, by: i32| Some(place.checked_add_signed(by as isize)?).filter(|&place| place < SIZE);
    Some(SIZE * shift(from / SIZE, down)? + shift(from % SIZE, right)?)
}

/// Steps of a king between two squares.
pub fn distance(one: usize, other: usize) -> u8 {
    let steps = (one / SIZE).abs_diff(other / SIZE).max((one % SIZE).abs_diff(other % SIZE));
    u8::try_from(steps).expect("the board is small")
}
