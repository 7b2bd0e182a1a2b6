/// A queue of bounded length for values that cannot be copied, such as the uses of a surface.
///
/// Its memory is allocated once. (`RigidDeque` of swift-collections would serve, but crashes the 6.3 compiler under ThreadSanitizer.)
@safe
public struct Ring<Element: ~Copyable>: ~Copyable {
    private let base: UnsafeMutablePointer<Element>
    /// The number of elements that fit.
    public let capacity: Int
    /// The number of elements held now.
    public private(set) var count = 0
    private var head = 0

    /// Allocates room for `capacity` elements, which must be at least 1.
    public init(capacity: Int) {
        precondition(capacity > 0)
        unsafe base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit {
        for index in 0..<count { unsafe (base + (head + index) % capacity).deinitialize(count: 1) }
        unsafe base.deallocate()
    }

    /// Whether no element is held; `popFirst` then returns nil.
    public var isEmpty: Bool { count == 0 }
    /// Whether `capacity` elements are held; `append` then stops the program.
    public var isFull: Bool { count == capacity }

    /// Puts an element at the end; the ring must not be full.
    public mutating func append(_ element: consuming Element) {
        precondition(count < capacity, "append to a full Ring")
        unsafe (base + (head + count) % capacity).initialize(to: element)
        count += 1
    }

    /// Takes the oldest element; nil when empty.
    public mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = unsafe (base + head).move()
        head = (head + 1) % capacity
        count -= 1
        return element
    }

    /// Removes and destroys every element.
    public mutating func removeAll() { while popFirst() != nil {} }

    /// The element `index` places after the oldest, which has index 0. The index must be below `count`.
    public subscript(index: Int) -> Element {
        _read {
            precondition(index >= 0 && index < count)
            yield unsafe base[(head + index) % capacity]
        }
        _modify {
            precondition(index >= 0 && index < count)
            let place = unsafe base + (head + index) % capacity
            yield unsafe &place.pointee
        }
    }
}

extension Ring: @unchecked Sendable where Element: Sendable & ~Copyable {}
